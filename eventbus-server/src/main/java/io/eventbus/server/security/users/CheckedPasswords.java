package io.eventbus.server.security.users;

import java.nio.charset.StandardCharsets;
import java.security.InvalidKeyException;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Passwords that were right a short time ago, so that a reconnect costs microseconds. Only their
 * HMAC with a key of this run is kept, over the user's hash as well: a changed password is not
 * found. Any thread.
 */
final class CheckedPasswords {
  static final Duration LIFE = Duration.ofMinutes(5);
  static final int MAX_PASSWORDS = 10_000;

  private static final String ALGORITHM = "HmacSHA256";

  private final LongSupplier nanoTime;
  private final SecretKeySpec key;

  /** End of each entry; all live equally long, so that the first ends first. */
  private final Map<String, Long> ends = new LinkedHashMap<>();

  CheckedPasswords(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    byte[] secret = new byte[32];
    new SecureRandom().nextBytes(secret);
    this.key = new SecretKeySpec(secret, ALGORITHM);
  }

  void add(PasswordHash hash, String user, String password) {
    String seal = seal(hash, user, password);
    long now = nanoTime.getAsLong();
    synchronized (ends) {
      forget(now);
      ends.remove(seal);
      if (ends.size() >= MAX_PASSWORDS) {
        Iterator<String> first = ends.keySet().iterator();
        first.next();
        first.remove();
      }
      ends.put(seal, now + LIFE.toNanos());
    }
  }

  boolean contains(PasswordHash hash, String user, String password) {
    String seal = seal(hash, user, password);
    long now = nanoTime.getAsLong();
    synchronized (ends) {
      forget(now);
      return ends.containsKey(seal);
    }
  }

  private void forget(long now) {
    for (Iterator<Long> end = ends.values().iterator(); end.hasNext(); ) {
      if (end.next() - now > 0) {
        return;
      }
      end.remove();
    }
  }

  private String seal(PasswordHash hash, String user, String password) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      // Neither a hash nor a name holds a zero.
      String sealed = hash.text() + '\0' + user + '\0' + password;
      return Base64.getEncoder()
          .encodeToString(mac.doFinal(sealed.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException | InvalidKeyException e) {
      throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
    }
  }
}
