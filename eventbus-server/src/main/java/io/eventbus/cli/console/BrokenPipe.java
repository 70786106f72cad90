package io.eventbus.cli.console;

/** Whoever read standard output has gone: the command ends quietly and well. */
public final class BrokenPipe extends RuntimeException {
  private static final long serialVersionUID = 1L;

  BrokenPipe() {
    super("standard output is closed", null, false, false);
  }
}
