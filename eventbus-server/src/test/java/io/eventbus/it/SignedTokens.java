package io.eventbus.it;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** JSON Web Tokens as an issuer makes them, with a secret that a bus of a test knows. */
final class SignedTokens {
  private static final byte[] SECRET =
      "0123456789abcdef0123456789abcdef".getBytes(StandardCharsets.UTF_8);

  private SignedTokens() {}

  /** Returns settings of a bus that takes them, and more. */
  static String[] settings(Path directory, String... more) throws Exception {
    Path secret = Files.write(directory.resolve("jwt-secret"), SECRET);
    List<String> all =
        new ArrayList<>(
            List.of(
                "auth.jwt.secret-file",
                secret.toString(),
                "auth.jwt.issuer",
                "i",
                "auth.jwt.audience",
                "bus"));
    all.addAll(Arrays.asList(more));
    return all.toArray(new String[0]);
  }

  /** Returns a token for ten minutes, with this for the claim {@code eventbus}. */
  static String token(String subject, Instant issuedAt, String claim) {
    return sign(
        "{\"iss\":\"i\",\"aud\":\"bus\",\"sub\":\""
            + subject
            + "\",\"iat\":"
            + issuedAt.getEpochSecond()
            + ",\"exp\":"
            + Instant.now().plusSeconds(600).getEpochSecond()
            + ",\"eventbus\":"
            + claim
            + "}");
  }

  static String sign(String claims) {
    return sign(claims, SECRET);
  }

  static String sign(String claims, String secret) {
    return sign(claims, secret.getBytes(StandardCharsets.UTF_8));
  }

  private static String sign(String claims, byte[] secret) {
    String signed =
        base64("{\"alg\":\"HS256\"}".getBytes(StandardCharsets.UTF_8))
            + "."
            + base64(claims.getBytes(StandardCharsets.UTF_8));
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret, "HmacSHA256"));
      return signed + "." + base64(mac.doFinal(signed.getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String base64(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }
}
