package io.eventbus.server.admin;

/** A request is answered with an error. The message never repeats what the request said. */
final class HttpFailure extends Exception {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final String code;

  HttpFailure(int status, String code, String message) {
    // The place where it was thrown says nothing: it is an answer, not a fault.
    super(message, null, false, false);
    this.status = status;
    this.code = code;
  }

  static HttpFailure notFound(String what) {
    return new HttpFailure(404, "NOT_FOUND", "no such " + what);
  }

  static HttpFailure badRequest(String message) {
    return new HttpFailure(400, "BAD_REQUEST", message);
  }

  int status() {
    return status;
  }

  String code() {
    return code;
  }
}
