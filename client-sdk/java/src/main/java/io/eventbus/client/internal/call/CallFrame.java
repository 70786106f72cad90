package io.eventbus.client.internal.call;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Outbound frame, which is written into its message when that leaves. Its methods are called under
 * the lock of its queue, and must not block.
 */
public interface CallFrame {
  /** The connection that it has to go over; null for whichever there is. */
  @Nullable CallPath path();

  /** Returns whether it is one of many of a tunnel, which take turns behind all other frames. */
  default boolean isBulk() {
    return false;
  }

  /** Returns whether there is another frame to be sent of this object, behind those of others. */
  default boolean hasNext() {
    return false;
  }

  /** Returns its approximate size in memory while it waits. */
  int cost();

  /**
   * Returns the present size of the frame in bytes, 0 if it is not to be sent any more; {@link
   * #write} follows in the same thread, or never.
   */
  int size(long nowNanos);

  /**
   * Writes the frame, which counts as sent from then on; returns false, and writes nothing, if it
   * is not to be sent any more.
   *
   * @param out has room for {@link #size} bytes at its position
   */
  boolean write(ByteBuffer out, CallPath over);
}
