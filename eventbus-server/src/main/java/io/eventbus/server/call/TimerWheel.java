package io.eventbus.server.call;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Deadlines of one loop: a hashed timing wheel (Varghese and Lauck, 1987) with a list of entries
 * for each 10 ms, so that setting and clearing a deadline, which nearly every call does, costs the
 * same however many there are. It schedules a tick only while it has entries. Confined to the loop.
 *
 * <p>A deadline is never early, and late by at most a tick and the delay of the loop. If a great
 * many pass at one moment they are processed in {@link Slices}, those of each client in turn.
 */
final class TimerWheel {
  static final long TICK_NANOS = 10_000_000;

  private static final int SLOTS = 512;

  /** Object with a deadline. */
  abstract static class Entry {
    private @Nullable Entry previous;
    private @Nullable Entry next;
    private long at;
    // Null while there is no deadline.
    private @Nullable Chain chain;

    /** Returns the list in which it waits when due: always the same for a client. */
    abstract Dues dues();

    /** Called when the deadline has passed; the entry may be armed again. */
    abstract void due(long nowNanos);
  }

  private static class Chain {
    @Nullable Entry first;
    @Nullable Entry last;
  }

  /** Due entries of one client that have not been processed yet. */
  static final class Dues extends Chain implements Slices.Work {
    private final TimerWheel deadlines;
    private final LongConsumer payer;
    private boolean listed;

    /**
     * Creates an empty list.
     *
     * @param payer charged for the nanoseconds of processing
     */
    Dues(TimerWheel deadlines, LongConsumer payer) {
      this.deadlines = deadlines;
      this.payer = payer;
    }

    @Override
    public boolean step(long nowNanos) {
      Entry entry = first;
      if (entry != null) {
        // The entry may arm and disarm deadlines, also of others that are due.
        deadlines.disarm(entry);
        entry.due(nowNanos);
      }
      listed = first != null;
      return listed;
    }

    @Override
    public void charge(long nanos) {
      payer.accept(nanos);
    }
  }

  private final LoopPort port;
  private final Slices slices;
  private final Runnable onTick = this::tick;
  private final Chain[] wheel = new Chain[SLOTS];
  private final Queue<Dues> collected = new ArrayDeque<>();
  private final long origin;
  private long doneTick;
  private int size;
  private boolean scheduled;

  TimerWheel(LoopPort port, Slices slices) {
    this.port = port;
    this.slices = slices;
    this.origin = port.nanoTime();
    Arrays.setAll(wheel, slot -> new Chain());
  }

  /** Sets the deadline of an entry, in place of its current one. */
  void arm(Entry entry, long atNanos, long nowNanos) {
    disarm(entry);
    if (size == 0) {
      // The wheel was not advanced since it became empty.
      doneTick = Math.floorDiv(nowNanos - origin, TICK_NANOS);
    }
    entry.at = atNanos;
    long tick = Math.floorDiv(atNanos - origin + TICK_NANOS - 1, TICK_NANOS);
    link(entry, wheel[(int) (Math.max(tick, doneTick + 1) & (SLOTS - 1))]);
    size++;
    schedule();
  }

  /** Clears a deadline, also one that is not set. */
  void disarm(Entry entry) {
    Chain chain = entry.chain;
    if (chain != null) {
      unlink(entry, chain);
      size--;
    }
  }

  int size() {
    return size;
  }

  /** Visits each armed entry that is not due; nothing may be armed or disarmed meanwhile. */
  void forEach(Consumer<Entry> action) {
    for (Chain chain : wheel) {
      for (Entry entry = chain.first; entry != null; entry = entry.next) {
        action.accept(entry);
      }
    }
  }

  private void schedule() {
    if (!scheduled) {
      scheduled = true;
      port.later(onTick, TICK_NANOS);
    }
  }

  private void tick() {
    scheduled = false;
    long now = port.nanoTime();
    long nowTick = Math.floorDiv(now - origin, TICK_NANOS);
    long first = Math.max(doneTick + 1, nowTick - SLOTS + 1);
    doneTick = nowTick;
    for (long tick = first; tick <= nowTick; tick++) {
      collect(wheel[(int) (tick & (SLOTS - 1))], now);
    }
    // After all are collected: the first one processed may change the wheel.
    for (Dues next = collected.poll(); next != null; next = collected.poll()) {
      slices.add(next);
    }
    if (size > 0) {
      schedule();
    }
  }

  private void collect(Chain slot, long now) {
    Entry next;
    for (Entry entry = slot.first; entry != null; entry = next) {
      next = entry.next;
      // The others have to wait for a further turn of the wheel.
      if (entry.at - now <= 0) {
        Dues dues = entry.dues();
        unlink(entry, slot);
        link(entry, dues);
        if (!dues.listed) {
          dues.listed = true;
          collected.add(dues);
        }
      }
    }
  }

  private static void link(Entry entry, Chain chain) {
    Entry last = chain.last;
    entry.chain = chain;
    entry.previous = last;
    if (last == null) {
      chain.first = entry;
    } else {
      last.next = entry;
    }
    chain.last = entry;
  }

  private static void unlink(Entry entry, Chain chain) {
    Entry before = entry.previous;
    Entry after = entry.next;
    if (before == null) {
      chain.first = after;
    } else {
      before.next = after;
    }
    if (after == null) {
      chain.last = before;
    } else {
      after.previous = before;
    }
    entry.previous = null;
    entry.next = null;
    entry.chain = null;
  }
}
