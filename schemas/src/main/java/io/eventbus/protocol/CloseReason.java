package io.eventbus.protocol;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The WebSocket close codes of the protocol (RFC 6455, section 7.4, and our own range from 4000).
 *
 * <p>4000 to 4499 ask the client to reconnect, 4500 to 4999 tell it not to.
 */
public enum CloseReason {
  /** Either side is done. */
  NORMAL(1000, false),
  /** The bus shuts down: reconnect to another bus. */
  SHUTTING_DOWN(1001, true),
  /** The client broke the protocol. */
  PROTOCOL_ERROR(1002, false),
  /** Text on a binary sub-protocol, or the reverse. */
  UNSUPPORTED_DATA(1003, false),
  /** Malformed Avro, or text that is not UTF-8. */
  MALFORMED(1007, false),
  /** A message or a field exceeds its limit. */
  TOO_BIG(1009, false),
  /** The bus met an unexpected condition. */
  INTERNAL_ERROR(1011, true),
  /** The client was asked to move and did not. */
  CHANGE_BUS(4000, true),
  /** The client did not read fast enough for its overflow policy. */
  SLOW_CONSUMER(4001, true),
  /** Nothing was received within the time-out. */
  IDLE(4002, true),
  /** The bus has no room: memory or connections. */
  OVERLOADED(4003, true),
  /** The client's credentials have expired: reconnect with new ones. */
  EXPIRED(4004, true),
  /** The credentials are missing or wrong. */
  UNAUTHENTICATED(4500, false),
  /** The client lacks the permission. */
  FORBIDDEN(4501, false),
  /** The bus does not support this. */
  UNSUPPORTED(4502, false),
  /** Another connection has resumed this session. */
  REPLACED(4503, false);

  /**
   * Maximum size of a reason that fits in a Close frame, in bytes of UTF-8 (RFC 6455, section 5.5).
   */
  public static final int MAX_REASON_BYTES = 123;

  private final int code;
  private final boolean reconnect;

  CloseReason(int code, boolean reconnect) {
    this.code = code;
    this.reconnect = reconnect;
  }

  /**
   * Returns the number on the wire.
   *
   * @return 1000 to 4999
   */
  public int code() {
    return code;
  }

  /**
   * Returns whether a client that is closed with this should connect again.
   *
   * @return true to reconnect, after a pause and perhaps to another bus
   */
  public boolean reconnect() {
    return reconnect;
  }

  /**
   * Finds a reason by its number.
   *
   * @param code any number
   * @return the reason, or null when this version does not know it
   */
  public static @Nullable CloseReason of(int code) {
    for (CloseReason reason : values()) {
      if (reason.code == code) {
        return reason;
      }
    }
    return null;
  }

  /**
   * Returns whether a client should connect again after a close with any code, known or not.
   *
   * @param code the code of the Close frame; 1006 for none
   * @return true to reconnect
   */
  public static boolean mayReconnect(int code) {
    CloseReason known = of(code);
    if (known != null) {
      return known.reconnect;
    }
    // 1006 and the other codes of RFC 6455 are accidents of the connection, not a verdict on the
    // client.
    return code < 4500;
  }

  /**
   * Cuts a text to the size of a Close frame, on a character boundary.
   *
   * @param text the text for the client
   * @return the text, of at most {@link #MAX_REASON_BYTES} bytes
   */
  public static String fit(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length <= MAX_REASON_BYTES) {
      return text;
    }
    int end = MAX_REASON_BYTES;
    while ((bytes[end] & 0xC0) == 0x80) {
      end--;
    }
    return new String(bytes, 0, end, StandardCharsets.UTF_8);
  }
}
