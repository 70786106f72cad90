package io.eventbus.cli.client;

import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reader that splits bytes at line feeds, whatever their encoding, and never keeps more than a
 * line.
 */
final class LineReader {
  private final InputStream in;
  private final int maxBytes;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();

  LineReader(InputStream in, int maxBytes) {
    this.in = new BufferedInputStream(in, 1 << 16);
    this.maxBytes = maxBytes;
  }

  /**
   * Reads a line without its end, or null after the last one.
   *
   * @throws CliFailure if the line is too long
   * @throws IOException if reading fails
   */
  byte @Nullable [] next() throws IOException {
    line.reset();
    int b = in.read();
    if (b < 0) {
      return null;
    }
    for (; b >= 0 && b != '\n'; b = in.read()) {
      if (line.size() == maxBytes) {
        throw new CliFailure(
            ExitCode.FAILED, "a line is too long (expected: up to " + maxBytes + " bytes)");
      }
      line.write(b);
    }
    byte[] bytes = line.toByteArray();
    boolean carriageReturn = bytes.length > 0 && bytes[bytes.length - 1] == '\r';
    return carriageReturn ? Arrays.copyOf(bytes, bytes.length - 1) : bytes;
  }
}
