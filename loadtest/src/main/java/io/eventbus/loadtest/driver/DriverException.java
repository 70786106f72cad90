package io.eventbus.loadtest.driver;

/**
 * A system under test did not do what was asked of it: it did not start, or its client failed. The
 * run is over; another one may succeed.
 */
public class DriverException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Creates it. */
  public DriverException(String message) {
    super(message);
  }

  /** Creates it. */
  public DriverException(String message, Throwable cause) {
    super(message, cause);
  }
}
