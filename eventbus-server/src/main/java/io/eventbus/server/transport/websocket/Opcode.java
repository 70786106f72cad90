package io.eventbus.server.transport.websocket;

/** Opcodes of RFC 6455, section 5.2. */
public final class Opcode {
  public static final int CONTINUATION = 0;
  public static final int TEXT = 1;
  public static final int BINARY = 2;
  public static final int CLOSE = 8;
  public static final int PING = 9;
  public static final int PONG = 10;

  private Opcode() {}

  public static boolean isKnown(int opcode) {
    return opcode <= BINARY || (opcode >= CLOSE && opcode <= PONG);
  }

  public static boolean isControl(int opcode) {
    return opcode >= CLOSE;
  }
}
