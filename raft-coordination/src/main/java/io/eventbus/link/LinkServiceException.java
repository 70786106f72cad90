package io.eventbus.link;

/**
 * Error of its own with which the service of another bus has answered a call. Whether to try again
 * depends on the code, which the service defines.
 */
public final class LinkServiceException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Code of an error that the service did not name. */
  public static final String INTERNAL = "INTERNAL";

  /** Code for a request, or an answer, that cannot be read. */
  public static final String MALFORMED = "MALFORMED";

  /** Code for a call to a service that the other bus does not have. */
  public static final String UNKNOWN_SERVICE = "UNKNOWN_SERVICE";

  /** Code that the service gives the error. */
  private final String code;

  /**
   * Creates the error.
   *
   * @param code the service's name for it
   * @param message the explanation, for people
   */
  public LinkServiceException(String code, String message) {
    super(message);
    this.code = code;
  }

  /**
   * Returns the code that the service gives the error.
   *
   * @return the code
   */
  public String code() {
    return code;
  }
}
