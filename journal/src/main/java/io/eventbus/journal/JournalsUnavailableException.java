package io.eventbus.journal;

import org.jspecify.annotations.Nullable;

/**
 * Failure that comes from the state of this bus, not from what was asked: another try may succeed
 * later. Of something that was to be changed, the outcome is not known unless {@link #isUnsent}
 * says so.
 */
public final class JournalsUnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final boolean unsent;

  /** Creates a failure that names problem, place and expectation. */
  public JournalsUnavailableException(String message) {
    super(message);
    unsent = false;
  }

  /** Creates a failure that names problem, place and expectation. */
  public JournalsUnavailableException(String message, @Nullable Throwable cause) {
    super(message, cause);
    unsent = false;
  }

  private JournalsUnavailableException(String message, boolean unsent) {
    super(message);
    this.unsent = unsent;
  }

  /** Returns a failure of something that was not begun. */
  public static JournalsUnavailableException unsent(String message) {
    return new JournalsUnavailableException(message, true);
  }

  /** Returns whether certainly nothing was changed. */
  public boolean isUnsent() {
    return unsent;
  }
}
