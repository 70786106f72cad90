package io.eventbus.server.durable;

import io.eventbus.journal.SlotState;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * Slot of a key-shared consumer: how far its events are known, which of them are not settled, and
 * what becomes of the first of these. One event is with the client at a time. Confined to the loop.
 */
final class KeySlot {
  /** Heap of a slot without the positions that it knows, about. */
  static final int SLOT_BYTES = 320;

  /** Heap of a position that is known, about. */
  static final int POSITION_BYTES = 32;

  final int number;
  private final ArrayDeque<Long> unsettled = new ArrayDeque<>(1);
  private final TreeSet<Long> again = new TreeSet<>();
  private long carefulUpTo;
  // The next position to look at: events of the slot before it are settled or known.
  private long next;
  // The event that is delivered, or whose delivery has failed; 0 for none.
  private long current;
  private boolean isAgain;
  private int attempt = 1;
  private boolean waits;
  private long due;
  private boolean sent;
  // Whether the journal is to know, and knows, that the delivery begins.
  private boolean announced;
  private boolean recorded;
  private boolean leaving;
  private boolean given;
  private boolean behind;

  /**
   * Creates a slot as another consumer has left it.
   *
   * @param comesAgain positions of dead letters that come again
   * @param stamp time of the shard, in milliseconds
   * @param now time of the bus, as nanoTime
   */
  KeySlot(int number, SlotState state, Collection<Long> comesAgain, long stamp, long now) {
    this.number = number;
    again.addAll(comesAgain);
    carefulUpTo = state.carefulUpTo();
    next = state.floor() + 1;
    long position = state.position();
    if (position >= next) {
      unsettled.add(position);
      next = position + 1;
    }
    if (position >= state.floor() + 1 || again.contains(position)) {
      begin(position);
      attempt = state.attempt();
      wait(state.due() == 0 ? 0 : Math.max(0, state.due() - stamp), now);
    }
  }

  private void begin(long position) {
    current = position;
    isAgain = again.contains(position);
    attempt = 1;
  }

  private void wait(long millis, long now) {
    waits = millis > 0;
    due = now + TimeUnit.MILLISECONDS.toNanos(millis);
  }

  /** Returns the state for the journal; its due time is that which is left, in milliseconds. */
  SlotState state(long now) {
    SlotState state = SlotState.at(floor()).withCare(carefulUpTo);
    int stored = announced ? attempt + 1 : attempt;
    if (current == 0 || stored == 1) {
      return state;
    }
    long left = waits ? Math.max(0, TimeUnit.NANOSECONDS.toMillis(due - now)) : 0;
    return state.withEvent(current, stored, left);
  }

  /** Returns the position up to which everything is settled but for what comes again. */
  long floor() {
    Long first = unsettled.peekFirst();
    return first == null ? next - 1 : first - 1;
  }

  /** Returns the next position to look at. */
  long next() {
    return next;
  }

  /** Returns how many positions it knows. */
  int known() {
    return unsettled.size() + again.size();
  }

  /**
   * Takes note that all events from one position to another were looked at; returns whether there
   * are some of which the slot did not know that.
   */
  boolean passed(long from, long to) {
    boolean more = next >= from && next <= to && !behind;
    if (more) {
      next = to + 1;
    }
    behind = false;
    return more;
  }

  /** Takes note of an event that cannot be known now: it is found again. */
  void behind(long position) {
    next = position;
    behind = true;
  }

  /** Returns whether events were met that cannot be known now. */
  boolean isBehind() {
    return behind;
  }

  /** Takes note of an event that was not looked at before. */
  void found(long position) {
    unsettled.add(position);
    next = position + 1;
  }

  /** Takes note of a dead letter that comes again; returns whether it was not known. */
  boolean comesAgain(long position) {
    return again.add(position);
  }

  /** Returns the position of the event that comes next; 0 if it is not known. */
  long candidate() {
    if (current != 0) {
      return current;
    }
    if (!again.isEmpty()) {
      return again.first();
    }
    Long first = unsettled.peekFirst();
    return first == null ? 0 : first;
  }

  /** Returns whether an event of the slot may be delivered now. */
  boolean isFree(long now) {
    return !sent && !leaving && (!announced || recorded) && !isWaiting(now);
  }

  /** Returns whether its event waits for its time. */
  boolean isWaiting(long now) {
    return waits && due - now > 0;
  }

  /** Returns whether the event that comes next is one that was delivered before. */
  boolean hasOld() {
    return attempt > 1 || isAgain || (current == 0 && !again.isEmpty());
  }

  /** Returns whether the journal has to know that the delivery of a candidate begins. */
  boolean isCareful() {
    long position = candidate();
    return !recorded && (position <= carefulUpTo || again.contains(position));
  }

  /** Makes the candidate the event that is delivered. */
  void begin() {
    if (current == 0) {
      begin(candidate());
    }
  }

  /** Has the journal told that the delivery of the candidate begins. */
  void announce() {
    begin();
    announced = true;
  }

  /** Takes note that everything is stored that was told. */
  void stored() {
    recorded = announced;
  }

  boolean isAnnounced() {
    return announced;
  }

  /** Takes note that the candidate was sent. */
  void send() {
    begin();
    sent = true;
    waits = false;
  }

  boolean isSent() {
    return sent;
  }

  boolean isAgain() {
    return isAgain;
  }

  long current() {
    return current;
  }

  /** Returns the number of the delivery that comes next, or that has begun. */
  int attempt() {
    return attempt;
  }

  /** Lets the event be delivered once more after a time. */
  void retry(long millis, long now) {
    attempt++;
    endDelivery();
    wait(millis, now);
  }

  /** Lets the event be delivered as if it had not been. */
  void release() {
    endDelivery();
  }

  /** Settles the event. */
  void settle() {
    if (isAgain) {
      again.remove(current);
    } else {
      unsettled.removeFirst();
    }
    endDelivery();
    current = 0;
    isAgain = false;
    attempt = 1;
    waits = false;
    if (carefulUpTo <= floor()) {
      carefulUpTo = 0;
    }
  }

  private void endDelivery() {
    sent = false;
    announced = false;
    recorded = false;
  }

  /** Says whether another consumer is to have the slot: then nothing more is delivered. */
  void leaving(boolean now) {
    leaving = now;
    if (now && !sent) {
      announced = false;
      recorded = false;
    }
  }

  /** Returns whether the slot can be given to another consumer. */
  boolean canBeGiven() {
    return leaving && !sent;
  }

  boolean isLeaving() {
    return leaving;
  }

  /** Takes note that the journal was asked to give the slot to another consumer. */
  void give() {
    given = true;
  }

  boolean isGiven() {
    return given;
  }
}
