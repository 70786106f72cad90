package io.eventbus.server.transport;

import java.nio.ByteBuffer;

/**
 * What is done with the messages of one WebSocket connection. All calls come on the connection's
 * loop.
 *
 * <p>An implementation must not block.
 */
interface MessageHandler {
  /** The sub-protocol in force allows text messages. */
  boolean acceptsText();

  /** The largest message that is accepted now, in bytes. */
  int maxMessageBytes();

  /**
   * Handles a message, or the rest of one.
   *
   * @return {@code to}, or where to go on after {@code retry} was called
   */
  int onMessage(ByteBuffer message, int from, int to, boolean text, long nowNanos, Runnable retry);

  /**
   * There is no memory for what the client sends, or there is again: until then nothing that lies
   * behind it is looked at.
   */
  default void inputLacksMemory(boolean lacks) {}

  /** The connection may write again, or has written all. */
  void onWritable();

  /** The client has read what was written before {@link WebSocketConnection#ask} of a number. */
  default void onAnswer(byte number) {}

  /**
   * Looks at deadlines of its own; called several times a second.
   *
   * @return whether nothing waits here, so that the next look may be a second later
   */
  boolean onTick(long nowNanos);

  /** Bytes that wait to be written, for choosing the biggest; any thread. */
  long queuedBytes();

  /** Bytes that are kept for the client beside what waits to be written; any thread. */
  default long keptBytes() {
    return 0;
  }

  /** The bus is going down; the connection is to be closed when what is queued has been written. */
  void onShutdown();

  /** The client closes the connection with 1000; {@link #onClosed} follows. */
  default void onGoodbye() {}

  /** The connection is closed; called once. */
  void onClosed();
}
