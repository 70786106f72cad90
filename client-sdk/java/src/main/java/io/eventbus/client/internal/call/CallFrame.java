package io.eventbus.client.internal.call;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One frame on its way out, which is written into the message that it leaves in. Its methods are
 * called under the lock of what it waits in, and must not block.
 */
public interface CallFrame {
  /** The connection that it has to go over; null for whichever there is. */
  @Nullable CallPath path();

  /** Says whether it is one of many of a tunnel, which take turns behind all other frames. */
  default boolean isBulk() {
    return false;
  }

  /** Says whether there is another frame to be sent of this object, behind those of others. */
  default boolean hasNext() {
    return false;
  }

  /** Roughly what it takes in memory while it waits. */
  int cost();

  /**
   * Says how big it is now; {@link #write} follows in the same thread, or never.
   *
   * @return bytes of the frame, 0 if it is not to be sent any more
   */
  int size(long nowNanos);

  /**
   * Writes the frame, which counts as sent from then on.
   *
   * @param out takes {@link #size} bytes at its position
   * @return false if it is not to be sent any more: then nothing is written
   */
  boolean write(ByteBuffer out, CallPath over);
}
