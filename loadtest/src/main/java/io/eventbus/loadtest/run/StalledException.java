package io.eventbus.loadtest.run;

/** Events in flight did not arrive in time; what is missing is in the verdict on integrity. */
final class StalledException extends Exception {
  private static final long serialVersionUID = 1L;

  StalledException(String message) {
    super(message);
  }
}
