package io.eventbus.protocol;

/**
 * Sizes of an array of events in the one form that this protocol writes: a single block with a
 * negative count, its size in bytes, the events, and the end mark.
 */
final class EventBlocks {
  private EventBlocks() {}

  static int blockSize(int count, int bytes) {
    return Varint.size(-(long) count) + Varint.size(bytes) + bytes + 1;
  }
}
