package io.eventbus.server.session;

import io.eventbus.server.security.Principal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.InvalidKeyException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.function.LongPredicate;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Creates resumes, and recognizes those created by a bus with the same key. Immutable; any thread,
 * without waiting.
 *
 * <pre>
 *   resume = base64url(random, 16 bytes; the first 16 bytes of HMAC-SHA-256(key, label, random))
 * </pre>
 *
 * <p>A producer number follows from its resume (see {@link Resume}). Without the signature a client
 * could try texts until the hash is another client's number; with it only a bus can assign a
 * number, and still no bus has to store anything. See docs/adr/0002-producer-numbers.md.
 */
public final class ResumeKey {
  /** Minimum length of a secret in bytes. */
  public static final int MIN_SECRET_BYTES = 32;

  // A secret may serve other purposes, too: the label makes these signatures worthless there.
  private static final byte[] KEY_LABEL = ascii("eventbus resume key v1");
  private static final byte[] LABEL = ascii("eventbus resume v1");

  private static final String ALGORITHM = "HmacSHA256";
  private static final int RANDOM_BYTES = 16;
  private static final int MAC_BYTES = 16;

  /**
   * Maximum attempts for a fitting number. Each takes one to three microseconds; one in as many as
   * there are loops fits.
   */
  private static final int MAX_DRAWS = 64;

  private final SecretKeySpec key;

  private ResumeKey(byte[] key) {
    this.key = new SecretKeySpec(key, ALGORITHM);
  }

  /**
   * Derives a key from a secret.
   *
   * @param secret at least 32 bytes; is copied
   * @throws IllegalArgumentException if the secret is too short
   */
  public static ResumeKey of(byte[] secret) {
    if (secret.length < MIN_SECRET_BYTES) {
      throw new IllegalArgumentException(
          "secret: " + secret.length + " bytes (expected: >= " + MIN_SECRET_BYTES + ")");
    }
    Mac mac = mac(new SecretKeySpec(secret, ALGORITHM));
    return new ResumeKey(mac.doFinal(KEY_LABEL));
  }

  /** Creates a random key that is not stored anywhere. */
  public static ResumeKey ofThisRun() {
    byte[] secret = new byte[MIN_SECRET_BYTES];
    new SecureRandom().nextBytes(secret);
    return of(secret);
  }

  /**
   * Creates a resume.
   *
   * @param fitting prefers producer numbers; the search is bounded, because a number that does not
   *     fit only costs speed
   */
  String create(SecureRandom random, Principal principal, LongPredicate fitting) {
    Mac mac = mac(key);
    byte[] drawn = new byte[RANDOM_BYTES];
    random.nextBytes(drawn);
    ByteBuffer counter = ByteBuffer.wrap(drawn);
    String resume = sign(mac, drawn);
    for (int i = 1; i < MAX_DRAWS && !fitting.test(Resume.producer(resume, principal)); i++) {
      // The next number is unpredictable without the key, so that more randomness is not needed.
      counter.putLong(0, counter.getLong(0) + 1);
      resume = sign(mac, drawn);
    }
    return resume;
  }

  /** Returns whether a bus with this key has signed a resume; other text never is. */
  boolean hasSigned(String resume) {
    if (!Resume.isWellFormed(resume)) {
      return false;
    }
    byte[] bytes = Base64.getUrlDecoder().decode(resume);
    byte[] drawn = Arrays.copyOf(bytes, RANDOM_BYTES);
    // Compares the texts and not the bytes: several texts can decode to the same bytes, each with
    // another number.
    return MessageDigest.isEqual(ascii(sign(drawn)), ascii(resume));
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /** Returns the resume with these random bytes. */
  String sign(byte[] drawn) {
    return sign(mac(key), drawn);
  }

  private static String sign(Mac mac, byte[] drawn) {
    mac.update(LABEL);
    byte[] signature = mac.doFinal(drawn);
    byte[] all =
        ByteBuffer.allocate(RANDOM_BYTES + MAC_BYTES)
            .put(drawn)
            .put(signature, 0, MAC_BYTES)
            .array();
    return Base64.getUrlEncoder().withoutPadding().encodeToString(all);
  }

  private static Mac mac(SecretKeySpec key) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      return mac;
    } catch (NoSuchAlgorithmException | InvalidKeyException e) {
      throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
    }
  }

  @Override
  public String toString() {
    return "ResumeKey[***]";
  }
}
