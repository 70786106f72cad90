package io.eventbus.server.queue;

import io.eventbus.server.delivery.Delivery;
import io.netty.buffer.ByteBuf;

/**
 * Target of a queue: the connection of its client. Confined to the connection's loop. An
 * implementation must not block.
 */
public interface MessageSink {
  /**
   * Returns whether the client accepts more now. If not, the queue is drained again when it does.
   */
  boolean isWritable();

  /** Schedules a drain of the queue at the end of the loop's round. */
  void drainSoon();

  /** Flushes written bytes to the system. */
  void flush();

  /** Returns the bytes that were written and that the system has not taken. */
  long pendingBytes();

  /** Returns whether a message of so many bytes is to be compressed. */
  boolean compresses(int bytes);

  /** Returns an empty message with room for exactly so many bytes. */
  ByteBuf newMessage(int bytes);

  /** Writes what {@link #newMessage} has made; takes over the caller's reference. */
  void writeMessage(ByteBuf message);

  /** Writes a delivery as a message, without a copy; takes over the caller's reference. */
  void writeMessage(Delivery delivery);

  /** Compresses bytes and writes them as a message; takes over the caller's reference. */
  void writeCompressed(ByteBuf bytes);
}
