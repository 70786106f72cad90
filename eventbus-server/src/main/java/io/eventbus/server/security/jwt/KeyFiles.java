package io.eventbus.server.security.jwt;

import io.eventbus.server.config.ConfigException;
import io.eventbus.server.config.ConfigKey;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/** Reader of keys from files, once. */
final class KeyFiles {
  static final int MAX_BYTES = 64 * 1024;

  /** Minimum length of a secret of HS256 (RFC 7518, section 3.2). */
  private static final int MIN_SECRET_BYTES = 32;

  private static final int MAX_SECRET_BYTES = 8 * 1024;

  private static final String ARMOR = "-----BEGIN";
  private static final Pattern PEM =
      Pattern.compile("-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\\s]+)-----END PUBLIC KEY-----");

  private KeyFiles() {}

  /**
   * Reads a shared secret.
   *
   * @throws ConfigException if it cannot be read, or is too short or too long
   */
  static TokenKey secret(Path file) {
    byte[] bytes = read(ConfigKey.AUTH_JWT_SECRET_FILE, file, MAX_SECRET_BYTES);
    if (bytes.length < MIN_SECRET_BYTES) {
      throw refused(
          ConfigKey.AUTH_JWT_SECRET_FILE,
          file,
          bytes.length + " bytes (expected: >= " + MIN_SECRET_BYTES + ")",
          null);
    }
    if (new String(bytes, StandardCharsets.ISO_8859_1).contains(ARMOR)) {
      // With a public key as the secret everybody could make tokens.
      throw refused(
          ConfigKey.AUTH_JWT_SECRET_FILE,
          file,
          "a key or certificate in PEM (expected: random bytes; auth.jwt.public-keys is for public"
              + " keys)",
          null);
    }
    return new TokenKey(null, KeyKind.SECRET, null, new SecretKeySpec(bytes, "HmacSHA256"));
  }

  /**
   * Reads public keys.
   *
   * @throws ConfigException if there are none, or one cannot be used
   */
  static List<TokenKey> publicKeys(Path file) {
    String text =
        new String(read(ConfigKey.AUTH_JWT_PUBLIC_KEYS, file, MAX_BYTES), StandardCharsets.UTF_8);
    try {
      List<TokenKey> keys = text.contains(ARMOR) ? pem(text) : set(text);
      if (keys.isEmpty()) {
        throw new IllegalArgumentException("no key for any algorithm");
      }
      return keys;
    } catch (IllegalArgumentException e) {
      throw refused(
          ConfigKey.AUTH_JWT_PUBLIC_KEYS,
          file,
          e.getMessage() + " (expected: a PUBLIC KEY in PEM, or a JSON Web Key Set)",
          e);
    }
  }

  /**
   * Reads a set and refuses all that is wrong in it, because the author of the file can put it
   * right.
   */
  private static List<TokenKey> set(String text) {
    KeySet.Parsed parsed = KeySet.parse(text);
    if (!parsed.leftOut().isEmpty()) {
      throw new IllegalArgumentException(parsed.leftOut().get(0));
    }
    return parsed.keys();
  }

  private static List<TokenKey> pem(String text) {
    List<TokenKey> keys = new ArrayList<>();
    Matcher blocks = PEM.matcher(text);
    while (blocks.find()) {
      PublicKey key = decoded(Base64.getMimeDecoder().decode(blocks.group(1)));
      KeyKind kind = KeyKind.of(key);
      if (kind == null) {
        throw new IllegalArgumentException("a key of a kind that no algorithm is for");
      }
      String weakness = KeySet.weakness(key);
      if (weakness != null) {
        throw new IllegalArgumentException(weakness);
      }
      keys.add(new TokenKey(null, kind, null, key));
    }
    return keys;
  }

  private static PublicKey decoded(byte[] encoded) {
    for (String algorithm : List.of("RSA", "EC", "EdDSA")) {
      PublicKey key = decoded(encoded, algorithm);
      if (key != null) {
        return key;
      }
    }
    throw new IllegalArgumentException("a key that is neither RSA nor EC nor EdDSA");
  }

  private static @Nullable PublicKey decoded(byte[] encoded, String algorithm) {
    try {
      return KeyFactory.getInstance(algorithm).generatePublic(new X509EncodedKeySpec(encoded));
    } catch (GeneralSecurityException e) {
      // A key of another kind, or none.
      return null;
    }
  }

  private static byte[] read(ConfigKey key, Path file, int max) {
    byte[] bytes;
    try (InputStream in = Files.newInputStream(file)) {
      bytes = in.readNBytes(max + 1);
    } catch (IOException e) {
      throw refused(key, file, "cannot be read: " + e, e);
    }
    if (bytes.length > max) {
      throw refused(key, file, "more than " + max + " bytes", null);
    }
    return bytes;
  }

  private static ConfigException refused(
      ConfigKey key, Path file, String why, @Nullable Throwable cause) {
    ConfigException refused = new ConfigException(List.of(key.key() + ": " + file + ": " + why));
    if (cause != null) {
      refused.initCause(cause);
    }
    return refused;
  }
}
