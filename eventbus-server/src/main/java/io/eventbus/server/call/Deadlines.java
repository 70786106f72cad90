package io.eventbus.server.call;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The deadlines of one loop: a hashed timing wheel (Varghese and Lauck, 1987) with a list of
 * entries for each 10 ms, so that setting and taking back a deadline, which nearly every call does,
 * costs the same however many there are. It asks the loop for a call only while it has entries.
 * Confined to the loop.
 *
 * <p>A deadline is never early, and late by a tick and what the loop is late.
 */
final class Deadlines {
  static final long TICK_NANOS = 10_000_000;

  private static final int SLOTS = 512;

  /** The list of those whose time has come and that have not been told yet. */
  private static final int DUE = SLOTS;

  private static final int NONE = -1;

  /** Something with a deadline. */
  abstract static class Entry {
    private @Nullable Entry previous;
    private @Nullable Entry next;
    private long at;
    private int slot = NONE;

    /** The time has come; the entry may be armed again. */
    abstract void due(long nowNanos);
  }

  private final LoopPort port;
  private final Runnable onTick = this::tick;
  private final @Nullable Entry[] heads = new Entry[SLOTS + 1];
  private final long origin;
  private long doneTick;
  private int size;
  private boolean asked;

  Deadlines(LoopPort port) {
    this.port = port;
    this.origin = port.nanoTime();
  }

  /** Sets the deadline of an entry, in place of the one that it has. */
  void arm(Entry entry, long atNanos, long nowNanos) {
    disarm(entry);
    if (size == 0) {
      // Nothing was looked at since the last one went.
      doneTick = Math.floorDiv(nowNanos - origin, TICK_NANOS);
    }
    entry.at = atNanos;
    long tick = Math.floorDiv(atNanos - origin + TICK_NANOS - 1, TICK_NANOS);
    link(entry, (int) (Math.max(tick, doneTick + 1) & (SLOTS - 1)));
    size++;
    ask();
  }

  /** Takes a deadline back; one that is not set, too. */
  void disarm(Entry entry) {
    if (entry.slot != NONE) {
      unlink(entry);
      size--;
    }
  }

  int size() {
    return size;
  }

  /** Calls for each entry that is armed; nothing may be armed or disarmed meanwhile. */
  void forEach(Consumer<Entry> action) {
    for (Entry head : heads) {
      for (Entry entry = head; entry != null; entry = entry.next) {
        action.accept(entry);
      }
    }
  }

  private void ask() {
    if (!asked) {
      asked = true;
      port.later(onTick, TICK_NANOS);
    }
  }

  private void tick() {
    asked = false;
    long now = port.nanoTime();
    long nowTick = Math.floorDiv(now - origin, TICK_NANOS);
    long first = Math.max(doneTick + 1, nowTick - SLOTS + 1);
    doneTick = nowTick;
    for (long tick = first; tick <= nowTick; tick++) {
      collect((int) (tick & (SLOTS - 1)), now);
    }
    // What is told may set and take back deadlines, also of those that are due.
    for (Entry entry = heads[DUE]; entry != null; entry = heads[DUE]) {
      disarm(entry);
      entry.due(now);
    }
    if (size > 0) {
      ask();
    }
  }

  private void collect(int slot, long now) {
    Entry next;
    for (Entry entry = heads[slot]; entry != null; entry = next) {
      next = entry.next;
      // The others have to wait for a further turn of the wheel.
      if (entry.at - now <= 0) {
        unlink(entry);
        link(entry, DUE);
      }
    }
  }

  private void link(Entry entry, int slot) {
    Entry head = heads[slot];
    entry.slot = slot;
    entry.next = head;
    if (head != null) {
      head.previous = entry;
    }
    heads[slot] = entry;
  }

  private void unlink(Entry entry) {
    Entry before = entry.previous;
    Entry after = entry.next;
    if (before == null) {
      heads[entry.slot] = after;
    } else {
      before.next = after;
    }
    if (after != null) {
      after.previous = before;
    }
    entry.previous = null;
    entry.next = null;
    entry.slot = NONE;
  }
}
