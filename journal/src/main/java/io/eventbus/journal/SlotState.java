package io.eventbus.journal;

import java.nio.ByteBuffer;

/**
 * State of a slot of a key-shared cursor. The events of a slot are settled in their order, but for
 * those that were dead and come again.
 *
 * @param floor every event of the slot up to this position is settled, but for those that come
 *     again
 * @param position the event whose delivery has failed, or has begun at a bus that may be lost; 0
 *     for none
 * @param attempt number of the next delivery of that event: at most one more than {@link
 *     TakenRun#MAX_ATTEMPTS}; 1 for none
 * @param due when that event may be delivered, in milliseconds of the shard's time, in a record
 *     from its own time on; 0 at once
 * @param carefulUpTo up to this position an event may have ended a bus: its delivery is recorded
 *     before it begins; 0 for none
 */
public record SlotState(long floor, long position, int attempt, long due, long carefulUpTo) {
  /** Number of slots of a cursor. The key of an event decides which one it belongs to. */
  public static final int SLOTS = 1_024;

  /**
   * Returns the slot of a key: its FNV-1a hash of 32 bits, of which both halves count.
   *
   * @param buffer holds the key in UTF-8
   * @param from index of its first byte
   * @param length its number of bytes
   */
  public static int slotOf(ByteBuffer buffer, int from, int length) {
    int hash = 0x811C9DC5;
    for (int i = 0; i < length; i++) {
      hash = (hash ^ (buffer.get(from + i) & 0xFF)) * 0x01000193;
    }
    return (hash ^ hash >>> 16) & (SLOTS - 1);
  }

  /** Returns the state of a slot of which nothing but a floor is known. */
  public static SlotState at(long floor) {
    return new SlotState(floor, 0, 1, 0, 0);
  }

  /** Returns the state with another floor; nothing up to it ends a bus any more. */
  public SlotState withFloor(long next) {
    return new SlotState(next, position, attempt, due, 0).withCare(carefulUpTo);
  }

  /** Returns the state in which events up to a position are delivered with care; 0 for none. */
  public SlotState withCare(long upTo) {
    return new SlotState(floor, position, attempt, due, upTo > floor ? upTo : 0);
  }

  /** Returns the state of a slot with an event whose delivery has failed, or has begun. */
  public SlotState withEvent(long failed, int next, long from) {
    return new SlotState(floor, failed, next, from, carefulUpTo);
  }

  /** Returns the state with another due time. */
  public SlotState withDue(long next) {
    return new SlotState(floor, position, attempt, next, carefulUpTo);
  }
}
