package io.eventbus.link.stream;

import io.netty.buffer.ByteBuf;

/**
 * Numbered frame that a {@link ReliableStream} keeps: a head, and a body that large frames give by
 * reference. Confined to the loop of its stream.
 */
public interface StreamFrame {
  /** Returns the bytes of memory that count as kept; the same each time. */
  long keptBytes();

  /** Returns the bytes of the head on the wire, or a few more. */
  int headBytes();

  /** Returns the bytes of the body on the wire. */
  int bodyBytes();

  /**
   * Writes the head; again after each cut.
   *
   * @param nowNanos for heads with a time that is left
   */
  void writeHead(ByteBuf out, long nowNanos);

  /** Copies the body. */
  void writeBody(ByteBuf out);

  /** Returns the body, which the caller releases. */
  ByteBuf body();

  /** Returns whether nobody waits for it any more: it is dropped if it has not been sent. */
  default boolean isExpired(long nowNanos) {
    return false;
  }

  /**
   * Called when it is acknowledged, perhaps before frames that precede it, and perhaps more than
   * once.
   */
  default void onAcknowledged() {}

  /** Releases it: it is not kept any more. Called once, the last of all. */
  void release();
}
