package io.eventbus.server.security.jwt;

import io.eventbus.server.samples.TestClock;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.jose4j.jwa.AlgorithmConstraints;
import org.jose4j.jwk.PublicJsonWebKey;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.NumericDate;
import org.jose4j.lang.JoseException;
import org.jspecify.annotations.Nullable;

/** Tokens and keys of tests. */
final class Tokens {
  static final String ISSUER = "https://issuer.example";
  static final String AUDIENCE = "bus";

  /** Seconds since 1970. */
  static final long NOW = 1_800_000_000;

  static final KeyPair RSA = pair("RSA");
  static final KeyPair OTHER_RSA = pair("RSA");
  static final KeyPair EC = pair("EC");
  static final KeyPair EDWARDS = pair("Ed25519");

  private Tokens() {}

  private static KeyPair pair(String algorithm) {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
      if (algorithm.equals("EC")) {
        generator.initialize(new ECGenParameterSpec("secp256r1"));
      } else if (algorithm.equals("RSA")) {
        generator.initialize(2048);
      }
      return generator.generateKeyPair();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  static TestClock clock() {
    return new TestClock(NOW * 1_000);
  }

  /** Returns correct claims. */
  static JwtClaims claims() {
    JwtClaims claims = new JwtClaims();
    claims.setIssuer(ISSUER);
    claims.setAudience(AUDIENCE);
    claims.setSubject("u1");
    claims.setIssuedAt(NumericDate.fromSeconds(NOW));
    claims.setExpirationTime(NumericDate.fromSeconds(NOW + 3_600));
    return claims;
  }

  static String signed(JwtClaims claims, String algorithm, Key key, @Nullable String kid) {
    JsonWebSignature signature = new JsonWebSignature();
    signature.setPayload(claims.toJson());
    signature.setAlgorithmHeaderValue(algorithm);
    signature.setAlgorithmConstraints(AlgorithmConstraints.NO_CONSTRAINTS);
    signature.setDoKeyValidation(false);
    signature.setKey(key);
    if (kid != null) {
      signature.setKeyIdHeaderValue(kid);
    }
    try {
      return signature.getCompactSerialization();
    } catch (JoseException e) {
      throw new IllegalStateException(e);
    }
  }

  static String signed(JwtClaims claims) {
    return signed(claims, "RS256", RSA.getPrivate(), "rsa");
  }

  static TokenKey key(@Nullable String id, Key key) {
    KeyKind kind = KeyKind.of(key);
    if (kind == null) {
      throw new IllegalArgumentException("a key of no kind");
    }
    return new TokenKey(id, kind, null, key);
  }

  static String base64(String text) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns a JSON Web Key Set. */
  static String set(Map<String, KeyPair> keys) {
    List<String> all =
        keys.entrySet().stream()
            .map(
                entry -> {
                  try {
                    PublicJsonWebKey jwk =
                        PublicJsonWebKey.Factory.newPublicJwk(entry.getValue().getPublic());
                    jwk.setKeyId(entry.getKey());
                    return jwk.toJson();
                  } catch (JoseException e) {
                    throw new IllegalStateException(e);
                  }
                })
            .toList();
    return "{\"keys\":[" + String.join(",", all) + "]}";
  }
}
