package io.eventbus.server.transport;

import java.nio.ByteBuffer;

/**
 * Handler of the messages of one WebSocket connection. All calls come on the connection's loop.
 *
 * <p>An implementation must not block.
 */
interface MessageHandler {
  /** Returns whether the sub-protocol in force allows text messages. */
  boolean acceptsText();

  /** Returns the largest accepted message now, in bytes. */
  int maxMessageBytes();

  /**
   * Handles a message, or the rest of a message.
   *
   * @return {@code to}, or where to continue after {@code retry} was called
   */
  int onMessage(ByteBuffer message, int from, int to, boolean text, long nowNanos, Runnable retry);

  /**
   * Tells whether memory for the client's input is lacking: until it is there, nothing behind is
   * decoded.
   */
  default void inputLacksMemory(boolean lacks) {}

  /** Called when the connection may write again, or has written all. */
  void onWritable();

  /**
   * Called when the client has read what was written before {@link
   * WebSocketConnection#sendMarkerPing} of this number.
   */
  default void onMarkerPong(byte number) {}

  /**
   * Checks deadlines of its own; called several times a second.
   *
   * @return whether nothing waits here, so that the next check may be a second later
   */
  boolean onTick(long nowNanos);

  /** Returns the bytes that wait to be written, for choosing the largest connection; any thread. */
  long queuedBytes();

  /**
   * Returns the bytes that are kept for the client beside those that wait to be written; any
   * thread.
   */
  default long keptBytes() {
    return 0;
  }

  /**
   * Called when the bus is stopping; the connection is to be closed when what is queued has been
   * written.
   */
  void onShutdown();

  /** Called when the client closes the connection with 1000; {@link #onClosed} follows. */
  default void onGoodbye() {}

  /** Called once when the connection is closed. */
  void onClosed();
}
