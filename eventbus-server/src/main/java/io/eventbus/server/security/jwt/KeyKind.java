package io.eventbus.server.security.jwt;

import java.security.Key;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.EdECPublicKey;
import java.security.interfaces.RSAPublicKey;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/** Kind of a key, which decides its algorithms; the token never does. */
enum KeyKind {
  /** Shared secret. */
  SECRET,
  RSA,
  P256,
  P384,
  P521,
  EDWARDS;

  /** Returns what a key is; null if no algorithm is for it. */
  static @Nullable KeyKind of(Key key) {
    if (key instanceof SecretKey) {
      return SECRET;
    }
    if (key instanceof RSAPublicKey) {
      return RSA;
    }
    if (key instanceof EdECPublicKey) {
      return EDWARDS;
    }
    if (key instanceof ECPublicKey curve) {
      return switch (curve.getParams().getOrder().bitLength()) {
        case 256 -> P256;
        case 384 -> P384;
        case 521 -> P521;
        default -> null;
      };
    }
    return null;
  }

  /** Returns what an algorithm needs (RFC 7518, section 3.1; RFC 8037); null if it is unknown. */
  static @Nullable KeyKind neededBy(String algorithm) {
    return switch (algorithm) {
      case "HS256", "HS384", "HS512" -> SECRET;
      case "RS256", "RS384", "RS512", "PS256", "PS384", "PS512" -> RSA;
      case "ES256" -> P256;
      case "ES384" -> P384;
      case "ES512" -> P521;
      case "EdDSA" -> EDWARDS;
      default -> null;
    };
  }
}
