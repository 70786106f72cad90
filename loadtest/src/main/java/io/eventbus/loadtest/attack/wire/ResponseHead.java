package io.eventbus.loadtest.attack.wire;

import io.netty.buffer.ByteBuf;

/** The head of the answer to an upgrade, of which only the status counts. For one thread. */
final class ResponseHead {
  /** The head has not ended. */
  static final int MORE = 0;

  /** Answer that is no HTTP, or too long. */
  static final int BROKEN = -1;

  private static final int MAX_BYTES = 16 * 1024;
  private static final String BEGIN = "HTTP/1.1 ";
  private static final int STATUS_DIGITS = 3;
  private static final String END = "\r\n\r\n";

  private final StringBuilder head = new StringBuilder();

  /** Takes octets up to the end of the head; returns the status once it is there. */
  int take(ByteBuf in) {
    while (in.isReadable() && !ends()) {
      head.append((char) in.readUnsignedByte());
      if (head.length() > MAX_BYTES) {
        return BROKEN;
      }
    }
    if (!ends()) {
      return MORE;
    }
    if (head.indexOf(BEGIN) != 0) {
      return BROKEN;
    }
    String status = head.substring(BEGIN.length(), BEGIN.length() + STATUS_DIGITS);
    return status.matches("[1-5][0-9]{2}") ? Integer.parseInt(status) : BROKEN;
  }

  private boolean ends() {
    int length = head.length();
    return length >= END.length()
        && head.charAt(length - 1) == '\n'
        && head.indexOf(END, length - END.length()) >= 0;
  }
}
