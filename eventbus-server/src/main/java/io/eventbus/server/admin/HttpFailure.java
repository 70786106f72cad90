package io.eventbus.server.admin;

import java.util.List;
import java.util.Map;

/** Error that answers a request. The message never repeats what the request said. */
final class HttpFailure extends Exception {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final String code;
  private final transient Map<String, List<String>> headers;

  HttpFailure(int status, String code, String message) {
    this(status, code, message, Map.of());
  }

  /** Creates an error with headers of its answer. */
  HttpFailure(int status, String code, String message, Map<String, List<String>> headers) {
    // No stack trace: it is an answer, not a fault.
    super(message, null, false, false);
    this.status = status;
    this.code = code;
    this.headers = headers;
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

  Map<String, List<String>> headers() {
    return headers;
  }
}
