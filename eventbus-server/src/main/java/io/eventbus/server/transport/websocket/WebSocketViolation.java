package io.eventbus.server.transport.websocket;

import io.eventbus.protocol.CloseReason;

/**
 * Violation of RFC 6455 or of a limit. Without a stack trace: it is thrown for hostile input, at
 * its rate.
 */
public final class WebSocketViolation extends Exception {
  private static final long serialVersionUID = 1L;

  private final CloseReason reason;

  public WebSocketViolation(CloseReason reason, String message) {
    super(message, null, false, false);
    this.reason = reason;
  }

  public CloseReason reason() {
    return reason;
  }

  public String text() {
    return String.valueOf(getMessage());
  }
}
