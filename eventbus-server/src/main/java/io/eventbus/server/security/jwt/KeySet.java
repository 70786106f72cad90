package io.eventbus.server.security.jwt;

import java.security.Key;
import java.security.interfaces.RSAPublicKey;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.JsonWebKeySet;
import org.jose4j.jwk.PublicJsonWebKey;
import org.jose4j.lang.JoseException;

/** Public keys in a JSON Web Key Set (RFC 7517). */
final class KeySet {
  static final int MOST_KEYS = 100;

  private static final int LEAST_RSA_BITS = 2048;
  private static final int MOST_RSA_BITS = 8192;

  private KeySet() {}

  /**
   * Reads a set. Keys that are no public ones, are not for signatures or are of a kind that no
   * algorithm is for are left out.
   *
   * @param json at most as long as the caller has bounded it
   * @return the keys
   * @throws IllegalArgumentException if it is no such set, or has too many keys, weak ones, or two
   *     of one name
   */
  static List<TokenKey> parse(String json) {
    List<JsonWebKey> all;
    try {
      all = new JsonWebKeySet(json).getJsonWebKeys();
    } catch (JoseException | RuntimeException e) {
      throw new IllegalArgumentException("no JSON Web Key Set", e);
    }
    if (all.size() > MOST_KEYS) {
      throw new IllegalArgumentException(all.size() + " keys (expected: <= " + MOST_KEYS + ")");
    }
    List<TokenKey> keys = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (JsonWebKey each : all) {
      boolean signs = each.getUse() == null || each.getUse().equals("sig");
      // A secret in a set that others can read is none.
      if (!signs || !(each instanceof PublicJsonWebKey jwk) || jwk.getPublicKey() == null) {
        continue;
      }
      Key key = jwk.getPublicKey();
      KeyKind kind = KeyKind.of(key);
      if (kind == null) {
        continue;
      }
      checkStrength(key);
      if (jwk.getKeyId() != null && !names.add(jwk.getKeyId())) {
        throw new IllegalArgumentException("two keys of the same kid");
      }
      keys.add(new TokenKey(jwk.getKeyId(), kind, jwk.getAlgorithm(), key));
    }
    return List.copyOf(keys);
  }

  /**
   * Checks the length of an RSA key: a short one can be forged, a very long one takes too long.
   *
   * @throws IllegalArgumentException if it is too short or too long
   */
  static void checkStrength(Key key) {
    if (key instanceof RSAPublicKey rsa) {
      int bits = rsa.getModulus().bitLength();
      if (bits < LEAST_RSA_BITS || bits > MOST_RSA_BITS) {
        throw new IllegalArgumentException(
            "an RSA key of "
                + bits
                + " bits (expected: "
                + LEAST_RSA_BITS
                + ".."
                + MOST_RSA_BITS
                + ")");
      }
    }
  }
}
