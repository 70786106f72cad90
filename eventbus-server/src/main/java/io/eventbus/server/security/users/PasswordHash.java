package io.eventbus.server.security.users;

import com.password4j.Argon2Function;
import com.password4j.types.Argon2;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Stored hash of a password with Argon2id (RFC 9106), in the form of the PHC string format.
 * Immutable; any thread.
 */
public final class PasswordHash {
  /** Memory of a new hash: 19 MiB, two passes, one lane (OWASP). */
  private static final int NEW_MEMORY_KIB = 19 * 1024;

  private static final int NEW_PASSES = 2;
  private static final int NEW_LANES = 1;
  private static final int NEW_SALT_BYTES = 16;
  private static final int NEW_HASH_BYTES = 32;

  // The memory that a file asks for comes from the heap for each check, two at a time.
  private static final int MAX_MEMORY_KIB = 256 * 1024;
  private static final int MAX_PASSES = 10;
  private static final int MAX_LANES = 4;

  private static final Pattern PHC =
      Pattern.compile(
          "\\$argon2id\\$v=19\\$m=(\\d{1,9}),t=(\\d{1,9}),p=(\\d{1,9})"
              + "\\$([A-Za-z0-9+/]{11,86})\\$([A-Za-z0-9+/]{22,86})");

  private final String phc;
  private final Argon2Function function;

  private PasswordHash(String phc, Argon2Function function) {
    this.phc = phc;
    this.function = function;
  }

  /**
   * Parses a hash.
   *
   * @throws IllegalArgumentException if it is none, or asks for too much; does not show it
   */
  public static PasswordHash parse(String phc) {
    Matcher matcher = PHC.matcher(phc);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "no hash of a password (expected: $argon2id$v=19$m=…,t=…,p=…$salt$hash, as eventbus"
              + " hash-password writes it, or *)");
    }
    int lanes = range("p", matcher.group(3), 1, MAX_LANES);
    // RFC 9106, section 3.1.
    range("m", matcher.group(1), 8 * lanes, MAX_MEMORY_KIB);
    range("t", matcher.group(2), 1, MAX_PASSES);
    // A length that base64 without padding cannot have.
    if (matcher.group(4).length() % 4 == 1 || matcher.group(5).length() % 4 == 1) {
      throw new IllegalArgumentException("salt or hash is no base64 (expected: without padding)");
    }
    return new PasswordHash(phc, Argon2Function.getInstanceFromHash(phc));
  }

  private static int range(String name, String text, int min, int max) {
    int value = Integer.parseInt(text);
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          "the hash has " + name + "=" + value + " (expected: " + min + ".." + max + ")");
    }
    return value;
  }

  /** Creates the hash of a new password; takes tenths of a second. */
  public static PasswordHash of(String password, SecureRandom random) {
    return of(password, random, NEW_MEMORY_KIB, NEW_PASSES);
  }

  static PasswordHash of(String password, SecureRandom random, int memoryKib, int passes) {
    byte[] salt = new byte[NEW_SALT_BYTES];
    random.nextBytes(salt);
    Argon2Function function =
        Argon2Function.getInstance(memoryKib, passes, NEW_LANES, NEW_HASH_BYTES, Argon2.ID);
    return parse(function.hash(password.getBytes(StandardCharsets.UTF_8), salt).getResult());
  }

  /** Returns whether this is the hash of a password; takes as long as the hash's parameters say. */
  public boolean matches(String password) {
    return function.check(
        password.getBytes(StandardCharsets.UTF_8), phc.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns how much more a check costs than of a hash that {@link #of} makes. */
  int timesUsual() {
    long cost = (long) function.getMemory() * function.getIterations();
    return (int) Math.max(1, cost / ((long) NEW_MEMORY_KIB * NEW_PASSES));
  }

  /** Returns the hash as it stands in a file. */
  public String text() {
    return phc;
  }

  /** Returns a text without the hash. */
  @Override
  public String toString() {
    return "PasswordHash[***]";
  }
}
