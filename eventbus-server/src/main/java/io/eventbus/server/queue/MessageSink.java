package io.eventbus.server.queue;

import io.eventbus.server.routing.Delivery;
import io.netty.buffer.ByteBuf;

/**
 * Where a queue writes: the connection of its client. Confined to the connection's loop. An
 * implementation must not block.
 */
public interface MessageSink {
  /** Whether the client takes more now. If not, the queue is drained again when it does. */
  boolean isWritable();

  /** There is something to write: the queue is drained at the end of the loop's round. */
  void drainSoon();

  /** Gives to the system what was written. */
  void flush();

  /** Bytes that were written and that the system has not taken. */
  long pendingBytes();

  /** Whether a message of so many bytes is to be compressed. */
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
