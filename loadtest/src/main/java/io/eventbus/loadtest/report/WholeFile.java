package io.eventbus.loadtest.report;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Writes files so that half of one is never seen, also when the load test is stopped. */
public final class WholeFile {
  private WholeFile() {}

  /**
   * Writes a file, or puts it in the place of an older one.
   *
   * @throws IOException if it cannot be written; an older one is as it was
   */
  public static void write(Path file, String text) throws IOException {
    write(file, text.getBytes(StandardCharsets.UTF_8));
  }

  static void write(Path file, byte[] bytes) throws IOException {
    Path part = file.resolveSibling(file.getFileName() + ".part");
    Files.write(part, bytes);
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
