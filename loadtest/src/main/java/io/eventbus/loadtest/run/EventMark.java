package io.eventbus.loadtest.run;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The first 16 bytes of every payload: who sent it, to what, which one it is and when it was due.
 *
 * <pre>
 *   bytes 0-7   due (48 bits: nanoseconds since the run's origin, 0 for "not recorded") | publisher (16)
 *   bytes 8-15  topic (20 bits) | number (44 bits: per publisher and topic, from 1)
 * </pre>
 */
public final class EventMark {
  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final int PUBLISHER_BITS = 16;
  private static final int NUMBER_BITS = 44;
  private static final long NUMBER_MASK = (1L << NUMBER_BITS) - 1;

  private EventMark() {}

  /**
   * Marks an event.
   *
   * @param payload of 16 bytes or more
   * @param publisher its number, from 0
   * @param topic its number, from 0
   * @param due in nanoseconds since the run's origin, 0 for "not recorded"
   */
  public static void write(byte[] payload, int publisher, int topic, long number, long due) {
    WORD.set(payload, 0, due << PUBLISHER_BITS | publisher);
    WORD.set(payload, Long.BYTES, (long) topic << NUMBER_BITS | number);
  }

  /** Reads the first word. */
  public static long first(ByteBuffer payload) {
    return payload.getLong(payload.position());
  }

  /** Reads the second word. */
  public static long second(ByteBuffer payload) {
    return payload.getLong(payload.position() + Long.BYTES);
  }

  /**
   * Says who sent it.
   *
   * @return its number, from 0
   */
  public static int publisher(long first) {
    return (int) (first & 0xFFFF);
  }

  /**
   * Says when it was due.
   *
   * @return nanoseconds since the run's origin, 0 for "not recorded"
   */
  public static long due(long first) {
    return first >>> PUBLISHER_BITS;
  }

  /**
   * Returns what it was sent to.
   *
   * @param second word
   * @return the topic's number, from 0
   */
  public static int topic(long second) {
    return (int) (second >>> NUMBER_BITS);
  }

  /**
   * Says which one it is.
   *
   * @param second word
   */
  public static long number(long second) {
    return second & NUMBER_MASK;
  }
}
