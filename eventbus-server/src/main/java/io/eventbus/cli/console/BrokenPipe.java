package io.eventbus.cli.console;

/**
 * Thrown when the reader of standard output has gone: the command ends quietly and successfully.
 */
public final class BrokenPipe extends RuntimeException {
  private static final long serialVersionUID = 1L;

  BrokenPipe() {
    super("standard output is closed", null, false, false);
  }
}
