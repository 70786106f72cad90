package io.eventbus.loadtest.coordination;

import io.eventbus.loadtest.driver.DriverException;

/** A system did not do what it was asked for. What was to be written may have been written. */
public final class CoordinationException extends DriverException {
  /** The kind of error that says: a register was changed by somebody else than its one writer. */
  public static final String FOREIGN = "foreign";

  private static final long serialVersionUID = 1L;

  private final String kind;

  /** Creates an exception. */
  public CoordinationException(String kind, Throwable cause) {
    super(kind + ": " + cause.getMessage(), cause);
    this.kind = kind;
  }

  /** Creates an exception. */
  public CoordinationException(String kind, String message) {
    super(kind + ": " + message);
    this.kind = kind;
  }

  /** Returns the sort of error. */
  public String kind() {
    return kind;
  }
}
