package io.eventbus.server.routing;

import io.eventbus.server.memory.HeapBytes;
import io.eventbus.server.memory.SecretHash;
import io.eventbus.server.subscription.BusRoutes;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.eventbus.server.subscription.TopicRoute;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Topics that one loop remembers, of all accounts: found by their account and bytes, so that no
 * string is created for a published frame.
 *
 * <p>A hash table with open addressing over a power of two. It starts small and grows with the
 * number of topics in use up to {@link #MAX_SLOTS} or the bytes that the loop's topics may take;
 * from then on a new topic takes the place of another, so that any number of topics can come by. A
 * {@link #sweep} removes routes that no longer hold or are not used, and keeps the topics with
 * their counts. Confined to its loop but for {@link #list}.
 */
final class RouteCache {
  private static final int MIN_SLOTS = 64;
  private static final int MAX_SLOTS = 1 << 17;
  private static final int NEIGHBOURHOOD = 8;

  /** Time in which sweeps visit every topic; one that is not used between two loses its route. */
  private static final long SWEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1250);

  /** Maximum of slots that {@link #someWithRoute} looks at. */
  private static final int LOOK = 64;

  /** Topic that this loop has seen. */
  static final class Entry extends TopicRoute {
    /** Heap of a topic, without its name. */
    private static final int HEAP_BYTES = 144;

    /** Index of the topic's account. */
    final SubscriptionIndex index;

    final int hash;
    final byte[] bytes;

    /** Number that no other topic of this loop ever has; from 1. */
    final long number;

    /** Plan of how frames leave for peers; null if none wants them. */
    @Nullable RemotePlan remote;

    /**
     * Plan of how frames leave for members of groups alone; null until one does. There is none
     * without {@link #remote}.
     */
    @Nullable RemotePlan groupsOnly;

    /** Number of the journal that keeps its events, 0 for none, by the table {@link #journals}. */
    int journal;

    JournalRoutes.@Nullable Table journals;

    long events;
    long deliveries;

    /**
     * Counts frames, for the choice of members of groups: for each topic, or two topics could share
     * a rhythm.
     */
    int roundRobin;

    /** Bytes that the cache counts for it. */
    private int cost;

    /** Value of {@link #events} at the last sweep. */
    private long eventsSwept;

    /**
     * Keeps its route through the next sweep, though nothing may be published: it is waited for.
     */
    void keep() {
      eventsSwept = -1;
    }

    /** Estimates the heap of the topic with its plans and without its route, in bytes. */
    int heapBytes() {
      long sum = HEAP_BYTES + HeapBytes.ofString(topic()) + HeapBytes.ofBytes(bytes.length);
      sum += remote == null ? 0 : remote.heapBytes();
      sum += groupsOnly == null ? 0 : groupsOnly.heapBytes();
      return (int) sum;
    }

    Entry(SubscriptionIndex index, long number, int hash, byte[] bytes, String topic) {
      super(topic, index);
      this.index = index;
      this.number = number;
      this.hash = hash;
      this.bytes = bytes;
    }
  }

  private final BusRoutes shared;
  private final long maxBytes;
  private final int maxSlots;
  // Volatile for list(): the loop itself reads it once for each look-up.
  private volatile @Nullable Entry[] slots = new Entry[MIN_SLOTS];
  private long lastNumber;
  private int size;
  private long cost;
  private int victim;
  private int hand;
  private int swept;
  private long sweptNanos;
  private boolean sweeping;

  /**
   * Creates an empty cache.
   *
   * @param shared counts the bytes
   * @param maxBytes maximum of topics without their routes
   */
  RouteCache(BusRoutes shared, long maxBytes) {
    this.shared = shared;
    this.maxBytes = maxBytes;
    // A slot takes its part of the bytes, too.
    long fitting = Math.max(MIN_SLOTS, Math.min(MAX_SLOTS, maxBytes / 64));
    this.maxSlots = (int) Long.highestOneBit(fitting);
    count(HeapBytes.ofSlots(MIN_SLOTS));
  }

  /** Finds the entry of a topic published in an account; null when there is none. */
  @Nullable Entry find(SubscriptionIndex index, ByteBuffer in, int start, int length) {
    int hash = SecretHash.of(in, start, length) ^ index.salt();
    @Nullable Entry[] table = slots;
    int mask = table.length - 1;
    for (int i = 0; i < NEIGHBOURHOOD; i++) {
      Entry entry = table[(hash + i) & mask];
      if (entry != null
          && entry.hash == hash
          && entry.index == index
          && equal(entry.bytes, in, start, length)) {
        return entry;
      }
    }
    return null;
  }

  /** Adds a topic, which has no route yet. */
  Entry add(SubscriptionIndex index, ByteBuffer in, int start, int length, String topic) {
    byte[] bytes = new byte[length];
    in.get(start, bytes);
    int hash = SecretHash.of(in, start, length) ^ index.salt();
    Entry entry = new Entry(index, ++lastNumber, hash, bytes, topic);
    while (slots.length < maxSlots
        && cost < maxBytes
        && (size >= slots.length / 2 || isCrowded(entry.hash))) {
      grow();
    }
    put(entry);
    shared.countTopics(1);
    recount(entry);
    makeRoom(entry);
    return entry;
  }

  /** Forgets topics, except one, until the others take no more than they may. */
  private void makeRoom(@Nullable Entry but) {
    for (int i = 0; cost > maxBytes && i < slots.length; i++) {
      Entry other = next();
      if (other != null && other != but) {
        remove((hand - 1) & (slots.length - 1), other);
      }
    }
  }

  /**
   * Returns whether a neighbourhood is full: topics in use that share it would push each other out.
   */
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
    victim = (victim + 1) % NEIGHBOURHOOD;
    int slot = (entry.hash + victim) & mask;
    for (int i = 1; i < NEIGHBOURHOOD && table[slot] != null; i++) {
      slot = (entry.hash + (victim + i) % NEIGHBOURHOOD) & mask;
    }
    Entry before = table[slot];
    if (before != null) {
      remove(slot, before);
    }
    table[slot] = entry;
    size++;
  }

  private void remove(int slot, Entry entry) {
    slots[slot] = null;
    size--;
    shared.countTopics(-1);
    entry.index.forget(entry);
    close(entry.remote);
    close(entry.groupsOnly);
    count(-entry.cost);
  }

  private static void close(@Nullable RemotePlan plan) {
    if (plan != null) {
      plan.close();
    }
  }

  /** Counts what a topic takes, again when its plan is another one or has grown. */
  void recount(Entry entry) {
    int now = entry.heapBytes();
    count(now - entry.cost);
    entry.cost = now;
  }

  private void count(long bytes) {
    cost += bytes;
    shared.countTopicBytes(bytes);
  }

  private void grow() {
    @Nullable Entry[] old = slots;
    slots = new Entry[old.length * 2];
    count(HeapBytes.ofSlots(slots.length) - HeapBytes.ofSlots(old.length));
    size = 0;
    for (Entry entry : old) {
      if (entry != null) {
        put(entry);
      }
    }
  }

  /** Moves the hand on by one slot; returns its entry. */
  private @Nullable Entry next() {
    @Nullable Entry[] table = slots;
    Entry entry = table[hand & (table.length - 1)];
    hand = (hand + 1) & (table.length - 1);
    return entry;
  }

  /** Finds a topic whose route could make room for that of another; null if none is near. */
  @Nullable Entry someWithRoute(Entry but) {
    for (int i = 0; i < LOOK; i++) {
      Entry entry = next();
      if (entry != null && entry != but && entry.route() != shared.nobody()) {
        return entry;
      }
    }
    return null;
  }

  /**
   * Removes the routes that no longer hold, or were not used since the last time, from some of the
   * topics: from as many as let it visit all of them in {@link #SWEEP_NANOS}.
   *
   * @param nowNanos {@link System#nanoTime}
   */
  void sweep(long nowNanos) {
    @Nullable Entry[] table = slots;
    long since = sweeping ? Math.min(nowNanos - sweptNanos, SWEEP_NANOS) : 0;
    int count = (int) (table.length * since / SWEEP_NANOS);
    if (count <= 0 && sweeping) {
      return;
    }
    sweeping = true;
    sweptNanos = nowNanos;
    for (int i = 0; i < count; i++) {
      swept = (swept + 1) & (table.length - 1);
      Entry entry = table[swept];
      if (entry != null && entry.index.isDropped()) {
        remove(swept, entry);
      } else if (entry != null) {
        if (entry.route() != shared.nobody()
            && (entry.events == entry.eventsSwept || !entry.index.isCurrent(entry))) {
          entry.index.forget(entry);
        }
        entry.eventsSwept = entry.events;
        if (entry.remote != null) {
          recount(entry);
        }
      }
    }
    makeRoom(null);
  }

  /** Forgets everything, at the end of the loop. */
  void clear() {
    @Nullable Entry[] table = slots;
    for (int i = 0; i < table.length; i++) {
      Entry entry = table[i];
      if (entry != null) {
        remove(i, entry);
      }
    }
    slots = new Entry[MIN_SLOTS];
    count(-cost);
  }

  /** Returns the topics seen; any thread, and perhaps a moment old. */
  List<Entry> list() {
    List<Entry> found = new ArrayList<>();
    for (Entry entry : slots) {
      if (entry != null) {
        found.add(entry);
      }
    }
    return found;
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
