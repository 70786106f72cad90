package io.eventbus.server.session;

import io.eventbus.server.security.Principal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Producer numbers that prove themselves: the number is a hash of a secret that only the client
 * knows.
 *
 * <p>Every bus can check a resume without asking another one and without having kept anything, also
 * after it was killed and started again; and who only sees a producer's number, as every subscriber
 * does, cannot take its place. The text says which number it leads to; whether it leads there at
 * all is the {@link ResumeKey}'s to say. See docs/adr/0002-producer-numbers.md.
 */
final class Resume {
  private static final int TEXT_LENGTH = 43;

  private Resume() {}

  /** Says whether a text has the form of a resume, whoever made it. */
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
   * The producer's number: 63 bits of SHA-256, never 0. That of a client that has a name follows
   * from the name as well, so that the resume is worth nothing to others.
   */
  static long producer(String resume, Principal who) {
    // The parts cannot run into each other: none of them holds this character.
    String hashed =
        who.account().isEmpty() && who.subject().isEmpty()
            ? resume
            : resume + '\0' + who.account() + '\0' + who.subject();
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(hashed.getBytes(StandardCharsets.UTF_8));
      return Math.max(1, ByteBuffer.wrap(hash).getLong() & Long.MAX_VALUE);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
