package io.eventbus.link;

/**
 * The service of another bus answered a call with an error of its own. Whether to try again depends
 * on the code, which the service defines.
 */
public final class LinkServiceException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The code of an error that the service did not name. */
  public static final String INTERNAL = "INTERNAL";

  /** The code for a request, or an answer, that cannot be read. */
  public static final String MALFORMED = "MALFORMED";

  /** The code for a call to a service that the other bus does not have. */
  public static final String UNKNOWN_SERVICE = "UNKNOWN_SERVICE";

  /** What the service calls it. */
  private final String code;

  /**
   * Makes the error.
   *
   * @param code the service's name for it
   * @param message what went wrong, for people
   */
  public LinkServiceException(String code, String message) {
    super(message);
    this.code = code;
  }

  /**
   * Returns what the service calls it.
   *
   * @return the code
   */
  public String code() {
    return code;
  }
}
