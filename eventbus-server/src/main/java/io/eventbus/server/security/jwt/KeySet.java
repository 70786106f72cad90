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
import org.jspecify.annotations.Nullable;

/** Public keys in a JSON Web Key Set (RFC 7517). */
final class KeySet {
  static final int MAX_KEYS = 100;

  private static final int MIN_RSA_BITS = 2048;
  private static final int MAX_RSA_BITS = 8192;

  private KeySet() {}

  /**
   * Keys of a set.
   *
   * @param keys those that tokens may be checked with
   * @param leftOut reason for each other key that is for signatures
   */
  record Parsed(List<TokenKey> keys, List<String> leftOut) {}

  /**
   * Reads a set. Keys that are not public, are not for signatures or are of a kind without an
   * algorithm are ignored; weak ones, and all but the first of one name and kind, are left out: one
   * key that cannot be used must not cost the others.
   *
   * @param json bounded by the caller
   * @throws IllegalArgumentException if it is no such set, or has too many keys
   */
  static Parsed parse(String json) {
    List<JsonWebKey> all;
    try {
      all = new JsonWebKeySet(json).getJsonWebKeys();
    } catch (JoseException | RuntimeException e) {
      throw new IllegalArgumentException("no JSON Web Key Set", e);
    }
    if (all.size() > MAX_KEYS) {
      throw new IllegalArgumentException(all.size() + " keys (expected: <= " + MAX_KEYS + ")");
    }
    List<TokenKey> keys = new ArrayList<>();
    List<String> leftOut = new ArrayList<>();
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
      String weakness = weakness(key);
      if (weakness != null) {
        leftOut.add(weakness);
        continue;
      }
      if (jwk.getKeyId() != null && !names.add(kind + " " + jwk.getKeyId())) {
        leftOut.add("a second key of one kid");
        continue;
      }
      keys.add(new TokenKey(jwk.getKeyId(), kind, jwk.getAlgorithm(), key));
    }
    return new Parsed(List.copyOf(keys), List.copyOf(leftOut));
  }

  /**
   * Returns what is wrong with the length of an RSA key, null if nothing: a short one can be
   * forged, a very long one takes too long.
   */
  static @Nullable String weakness(Key key) {
    if (key instanceof RSAPublicKey rsa) {
      int bits = rsa.getModulus().bitLength();
      if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS) {
        return "an RSA key of "
            + bits
            + " bits (expected: "
            + MIN_RSA_BITS
            + ".."
            + MAX_RSA_BITS
            + ")";
      }
    }
    return null;
  }
}
