package io.eventbus.journal;

import org.jspecify.annotations.Nullable;

/**
 * Failure that comes from the state of this bus, not from what was asked: another try may succeed
 * later. Of something that was to be changed, the outcome is not known.
 */
public final class JournalsUnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Creates a failure that names problem, place and expectation. */
  public JournalsUnavailableException(String message) {
    super(message);
  }

  /** Creates a failure that names problem, place and expectation. */
  public JournalsUnavailableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
