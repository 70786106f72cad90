package io.eventbus.server.samples;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;

/**
 * Key for the resumes of all buses that tests of this JVM start, so that none uses one in the home
 * of the user who runs the tests.
 */
public final class TestKey {
  /** File with the key; deleted when the JVM ends. */
  public static final Path FILE = create();

  private TestKey() {}

  private static Path create() {
    try {
      byte[] key = new byte[32];
      new SecureRandom().nextBytes(key);
      Path file = Files.write(Files.createTempFile("resume-key", ".test"), key);
      file.toFile().deleteOnExit();
      return file;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
