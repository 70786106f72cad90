package io.eventbus.cli.bench;

import org.jspecify.annotations.Nullable;

/** Thrown if the measurement did not complete. Retry when the cause is mended. */
public final class BenchException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  BenchException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
