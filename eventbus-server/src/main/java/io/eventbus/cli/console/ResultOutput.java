package io.eventbus.cli.console;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Standard output: results, in UTF-8 whatever the platform's encoding. Unlike a {@code PrintStream}
 * it reports at once when nobody reads any more. Safe for use by several threads; each call is
 * written whole.
 */
public final class ResultOutput {
  private final OutputStream out;

  public ResultOutput(OutputStream out) {
    this.out = new BufferedOutputStream(out, 1 << 16);
  }

  /**
   * Writes a line.
   *
   * @throws BrokenPipe if nobody reads any more
   */
  public void line(String line) {
    write((line + "\n").getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Writes bytes as they are.
   *
   * @throws BrokenPipe if nobody reads any more
   */
  public synchronized void write(byte[] bytes) {
    try {
      out.write(bytes);
      out.flush();
    } catch (IOException e) {
      throw new BrokenPipe();
    }
  }
}
