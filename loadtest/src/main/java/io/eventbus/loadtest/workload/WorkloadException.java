package io.eventbus.loadtest.workload;

/** A workload file cannot be used; the message names the file and what is wrong with it. */
public final class WorkloadException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Creates it. */
  public WorkloadException(String message) {
    super(message);
  }

  /** Creates it. */
  public WorkloadException(String message, Throwable cause) {
    super(message, cause);
  }
}
