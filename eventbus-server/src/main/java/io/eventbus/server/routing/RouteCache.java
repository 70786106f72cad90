package io.eventbus.server.routing;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one loop remembers of topics: found by their bytes, so that no string is made for a
 * published frame.
 *
 * <p>A hash table with open addressing over a power of two. It starts small and grows with the
 * number of topics in use up to {@link #MAX_SLOTS} or {@link #MAX_BYTES}; from then on a new topic
 * takes the place of another in its neighbourhood, so that any number of topics can come by and an
 * idle one costs nothing for long. Confined to its loop but for {@link #list}.
 */
final class RouteCache {
  private static final int MIN_SLOTS = 64;
  private static final int MAX_SLOTS = 1 << 17;
  private static final int NEIGHBOURHOOD = 8;

  /** What an entry takes besides twice its topic: itself, its route, and the headers of both. */
  private static final int ENTRY_BYTES = 256;

  /** The table no longer grows when its entries take so much, about. */
  private static final long MAX_BYTES = 32L << 20;

  /** A topic that this loop has seen. */
  static final class Entry {
    final int hash;
    final byte[] bytes;
    final String topic;
    Route route;

    /** How frames leave for other buses; null if none wants them. */
    @Nullable RemotePlan remote;

    long events;
    long deliveries;

    /**
     * Counts frames, for groups to take turns: for each topic, or two topics could share a rhythm.
     */
    int turn;

    Entry(int hash, byte[] bytes, String topic, Route route) {
      this.hash = hash;
      this.bytes = bytes;
      this.topic = topic;
      this.route = route;
    }
  }

  // Volatile for list(): the loop itself reads it once for each look-up.
  private volatile @Nullable Entry[] slots = new Entry[MIN_SLOTS];
  private int size;
  private long cost;
  private int victim;

  /** Finds the entry of a published topic; null when there is none. */
  @Nullable Entry find(ByteBuffer in, int start, int length) {
    int hash = hash(in, start, length);
    @Nullable Entry[] table = slots;
    int mask = table.length - 1;
    for (int i = 0; i < NEIGHBOURHOOD; i++) {
      Entry entry = table[(hash + i) & mask];
      if (entry != null && entry.hash == hash && equal(entry.bytes, in, start, length)) {
        return entry;
      }
    }
    return null;
  }

  Entry add(ByteBuffer in, int start, int length, String topic, Route route) {
    byte[] bytes = new byte[length];
    in.get(start, bytes);
    Entry entry = new Entry(hash(in, start, length), bytes, topic, route);
    while (slots.length < MAX_SLOTS
        && cost < MAX_BYTES
        && (size >= slots.length / 2 || isCrowded(entry.hash))) {
      grow();
    }
    put(entry);
    return entry;
  }

  /** Whether a neighbourhood is full: topics in use that share it would push each other out. */
  private boolean isCrowded(int hash) {
    @Nullable Entry[] table = slots;
    for (int i = 0; i < NEIGHBOURHOOD; i++) {
      if (table[(hash + i) & (table.length - 1)] == null) {
        return false;
      }
    }
    return true;
  }

  private void put(Entry entry) {
    @Nullable Entry[] table = slots;
    int mask = table.length - 1;
    int free = -1;
    int taken = -1;
    victim = (victim + 1) % NEIGHBOURHOOD;
    for (int i = 0; i < NEIGHBOURHOOD; i++) {
      int slot = (entry.hash + (victim + i) % NEIGHBOURHOOD) & mask;
      if (table[slot] == null) {
        free = slot;
      } else if (taken < 0) {
        taken = slot;
      }
    }
    // With all the memory taken another has to go, even if there is a free slot.
    int slot = free >= 0 && (cost < MAX_BYTES || taken < 0) ? free : taken;
    Entry before = table[slot];
    if (before == null) {
      size++;
    } else {
      cost -= cost(before);
    }
    cost += cost(entry);
    table[slot] = entry;
  }

  private static long cost(Entry entry) {
    return ENTRY_BYTES + 2L * entry.bytes.length;
  }

  private void grow() {
    @Nullable Entry[] old = slots;
    slots = new Entry[old.length * 2];
    size = 0;
    cost = 0;
    for (Entry entry : old) {
      if (entry != null) {
        put(entry);
      }
    }
  }

  /** The topics seen; any thread, and perhaps a moment old. */
  List<Entry> list() {
    List<Entry> found = new ArrayList<>();
    for (Entry entry : slots) {
      if (entry != null) {
        found.add(entry);
      }
    }
    return found;
  }

  /** Eight bytes at a time, mixed as in MurmurHash3's finalizer. */
  private static int hash(ByteBuffer in, int start, int length) {
    long h = length;
    int i = 0;
    for (; i + 8 <= length; i += 8) {
      h = (h ^ in.getLong(start + i)) * 0xff51afd7ed558ccdL;
      h ^= h >>> 32;
    }
    for (; i < length; i++) {
      h = (h ^ in.get(start + i)) * 0xc4ceb9fe1a85ec53L;
    }
    h ^= h >>> 33;
    h *= 0xff51afd7ed558ccdL;
    return (int) (h ^ (h >>> 32));
  }

  private static boolean equal(byte[] bytes, ByteBuffer in, int start, int length) {
    if (bytes.length != length) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      if (bytes[i] != in.get(start + i)) {
        return false;
      }
    }
    return true;
  }
}
