package io.eventbus.server.session;

import io.eventbus.server.security.Principal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Self-certifying producer numbers: a number is a hash of a secret that only the client knows.
 *
 * <p>Every bus can check a resume without asking a peer and without stored state, also after a kill
 * and restart; and a subscriber, which sees producer numbers, cannot take over a producer. The text
 * determines the number; {@link ResumeKey} decides whether the text is genuine. See
 * docs/adr/0002-producer-numbers.md.
 */
final class Resume {
  private static final int TEXT_LENGTH = 43;

  private Resume() {}

  /** Returns whether a text has the form of a resume, genuine or not. */
  static boolean isWellFormed(String resume) {
    if (resume.length() != TEXT_LENGTH) {
      return false;
    }
    for (int i = 0; i < TEXT_LENGTH; i++) {
      char c = resume.charAt(i);
      boolean legal =
          (c >= 'A' && c <= 'Z')
              || (c >= 'a' && c <= 'z')
              || (c >= '0' && c <= '9')
              || c == '-'
              || c == '_';
      if (!legal) {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns the producer number: 63 bits of SHA-256, never 0. The hash of a client with a name
   * includes the name, so that the resume is worthless to others.
   */
  static long producer(String resume, Principal principal) {
    // The separator keeps the parts apart: none of them contains this character.
    String hashed =
        principal.account().isEmpty() && principal.subject().isEmpty()
            ? resume
            : resume + '\0' + principal.account() + '\0' + principal.subject();
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(hashed.getBytes(StandardCharsets.UTF_8));
      return Math.max(1, ByteBuffer.wrap(hash).getLong() & Long.MAX_VALUE);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
