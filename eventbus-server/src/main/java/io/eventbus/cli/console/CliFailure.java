package io.eventbus.cli.console;

import org.jspecify.annotations.Nullable;

/** Failure that ends the command with a message for a person and an exit code. */
public final class CliFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int exitCode;

  public CliFailure(int exitCode, String message) {
    this(exitCode, message, null);
  }

  public CliFailure(int exitCode, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.exitCode = exitCode;
  }

  int exitCode() {
    return exitCode;
  }
}
