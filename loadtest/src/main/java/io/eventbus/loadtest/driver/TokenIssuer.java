package io.eventbus.loadtest.driver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;

/** Signs JSON Web Tokens for clients of the event bus with ES256 (RFC 7518). Any thread. */
public final class TokenIssuer {
  private static final String ISSUER = "loadtest";
  private static final String AUDIENCE = "eventbus";
  private static final Duration LIFETIME = Duration.ofHours(12);
  private static final int LINE = 64;

  private final KeyPair keys;
  private final Path publicKey;
  private final long issued;
  private final long expires;

  /** Creates one with a fresh key. */
  public TokenIssuer(Path directory, long nowSeconds) {
    this.issued = nowSeconds;
    this.expires = nowSeconds + LIFETIME.toSeconds();
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"));
      keys = generator.generateKeyPair();
      publicKey =
          Files.writeString(
              directory.resolve("tokens.pem"),
              "-----BEGIN PUBLIC KEY-----\n"
                  + Base64.getMimeEncoder(LINE, new byte[] {'\n'})
                      .encodeToString(keys.getPublic().getEncoded())
                  + "\n-----END PUBLIC KEY-----\n");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has ES256's curve", e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns what a bus has to be told. */
  public Map<String, String> settings() {
    return Map.of(
        // A bus that has just started on a busy machine checks its first tokens slowly.
        "timeouts.hello",
        "60s",
        "auth.jwt.issuer",
        ISSUER,
        "auth.jwt.audience",
        AUDIENCE,
        "auth.jwt.public-keys",
        publicKey.toString());
  }

  /**
   * Signs a token.
   *
   * @param account its account, likewise; empty for none
   * @param role its role, likewise; empty for none
   */
  public String token(String subject, String account, String role) {
    String roles = role.isEmpty() ? "[]" : "[\"" + role + "\"]";
    String claims =
        "{\"iss\":\""
            + ISSUER
            + "\",\"aud\":\""
            + AUDIENCE
            + "\",\"sub\":\""
            + subject
            + "\",\"iat\":"
            + issued
            + ",\"exp\":"
            + expires
            + ",\"eventbus\":{\"account\":\""
            + account
            + "\",\"roles\":"
            + roles
            + "}}";
    String signed = base64("{\"alg\":\"ES256\",\"typ\":\"JWT\"}") + "." + base64(claims);
    try {
      Signature signature = Signature.getInstance("SHA256withECDSAinP1363Format");
      signature.initSign(keys.getPrivate());
      signature.update(signed.getBytes(StandardCharsets.US_ASCII));
      return signed + "." + base64(signature.sign());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has ES256", e);
    }
  }

  private static String base64(String text) {
    return base64(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String base64(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }
}
