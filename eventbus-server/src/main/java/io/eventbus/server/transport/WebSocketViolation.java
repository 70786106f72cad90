package io.eventbus.server.transport;

import io.eventbus.protocol.CloseReason;

/**
 * Bytes that break RFC 6455 or a limit. Without a stack trace: it is thrown for hostile input, at
 * its rate.
 */
final class WebSocketViolation extends Exception {
  private static final long serialVersionUID = 1L;

  private final CloseReason reason;

  WebSocketViolation(CloseReason reason, String message) {
    super(message, null, false, false);
    this.reason = reason;
  }

  CloseReason reason() {
    return reason;
  }

  String text() {
    return String.valueOf(getMessage());
  }
}
