package io.eventbus.loadtest.driver;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TokenIssuerTest {
  @Test
  void aTokenIsSignedWithTheKeyInTheFile(@TempDir Path directory) throws Exception {
    TokenIssuer issuer = new TokenIssuer(directory, 1_000_000);
    String[] parts = issuer.token("c-1", "acme", "load").split("\\.", -1);
    assertThat(parts).hasSize(3);
    Base64.Decoder decoder = Base64.getUrlDecoder();
    JsonNode claims = new ObjectMapper().readTree(decoder.decode(parts[1]));
    assertThat(claims.path("sub").asText()).isEqualTo("c-1");
    assertThat(claims.path("iat").asLong()).isEqualTo(1_000_000);
    assertThat(claims.path("exp").asLong()).isEqualTo(1_000_000 + 12 * 3600);
    assertThat(claims.path("eventbus").toString())
        .isEqualTo("{\"account\":\"acme\",\"roles\":[\"load\"]}");
    String pem = Files.readString(Path.of(issuer.settings().get("auth.jwt.public-keys")));
    byte[] key = Base64.getMimeDecoder().decode(pem.replaceAll("-----[A-Z ]+-----", ""));
    PublicKey publicKey = KeyFactory.getInstance("EC").generatePublic(new X509EncodedKeySpec(key));
    Signature signature = Signature.getInstance("SHA256withECDSAinP1363Format");
    signature.initVerify(publicKey);
    signature.update((parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII));
    assertThat(signature.verify(decoder.decode(parts[2]))).isTrue();
  }

  @Test
  void withoutARoleThereIsNone(@TempDir Path directory) throws Exception {
    String[] parts = new TokenIssuer(directory, 0).token("c", "", "").split("\\.", -1);
    assertThat(new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8))
        .contains("\"roles\":[]");
  }
}
