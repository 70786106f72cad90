package io.eventbus.server.durable;

import io.eventbus.journal.SlotEnd;
import io.eventbus.journal.SlotProgress;
import io.eventbus.journal.SlotState;
import io.eventbus.journal.SlotsView;
import io.eventbus.journal.SlotsView.SlotView;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Slots of a key-shared consumer: where it reads on, and what the journal is told of them. Confined
 * to the loop.
 */
final class KeySlots {
  /** Maximum number of events that are known and not settled: what is behind is found again. */
  static final int MAX_KNOWN = 8_192;

  /** Reason of the death of an event whose bus was lost with its last delivery. */
  static final String CONSUMER_LOST = "its consumer was lost";

  /** Progress on its way to the journal, and the slots that it concerns. */
  static final class Told {
    final SlotProgress progress;
    private final List<KeySlot> announced = new ArrayList<>();
    private final List<KeySlot> given = new ArrayList<>();

    private Told(SlotProgress progress) {
      this.progress = progress;
    }

    /** Returns whether it settles dead letters that came again. */
    boolean endsAgain() {
      return progress.ends().stream().anyMatch(SlotEnd::again);
    }
  }

  private final int maxAttempts;
  private final @Nullable KeySlot[] slots = new @Nullable KeySlot[SlotState.SLOTS];
  private int count;
  private int known;
  private long serial;
  private long generation;
  private boolean full;
  private boolean more;
  private boolean changed;
  private boolean moved;
  private long toldUpTo;
  // Ends that no progress has had, and those that one has that is not known to be stored.
  private final List<SlotEnd> ends = new ArrayList<>();
  private final List<SlotEnd> toldEnds = new ArrayList<>();
  // Settled dead letters that came again, until the journal is seen without them; by position, the
  // serial of their progress.
  private final Map<Long, Long> endedAgain = new HashMap<>();

  KeySlots(int maxAttempts) {
    this.maxAttempts = maxAttempts;
  }

  /** Returns about how much heap it takes beyond that of no slots, in bytes. */
  int heapBytes() {
    return count * KeySlot.SLOT_BYTES
        + (known + endedAgain.size()) * KeySlot.POSITION_BYTES
        + (ends.size() + toldEnds.size()) * KeySlot.SLOT_BYTES;
  }

  @Nullable KeySlot get(int slot) {
    return slots[slot];
  }

  // ---- What the journal says

  /** Takes the slots that the journal says the consumer has. */
  void adopt(SlotsView view, long stamp, long now) {
    for (SlotView each : view.slots()) {
      KeySlot slot = slots[each.slot()];
      if (each.gift() > generation) {
        if (slot != null) {
          remove(slot);
        }
        slot = new KeySlot(each.slot(), each.state(), comesAgain(each, view), stamp, now);
        slots[each.slot()] = slot;
        count++;
        known += slot.known();
        changed = true;
      } else if (slot != null) {
        for (long position : comesAgain(each, view)) {
          known += slot.comesAgain(position) ? 1 : 0;
        }
      }
      if (slot != null && !slot.isGiven()) {
        slot.leaving(each.leaving());
        changed |= each.leaving();
      }
    }
    generation = Math.max(generation, view.generation());
    full = view.full();
    more = view.more();
    endedAgain.values().removeIf(told -> told <= view.serial());
  }

  private List<Long> comesAgain(SlotView slot, SlotsView view) {
    List<Long> positions = new ArrayList<>();
    for (long position : slot.again()) {
      Long told = endedAgain.get(position);
      if (told == null || told <= view.serial()) {
        positions.add(position);
      }
    }
    return positions;
  }

  private void remove(KeySlot slot) {
    slots[slot.number] = null;
    count--;
    known -= slot.known();
  }

  /** Returns whether the journal has more dead letters that come again than it has named. */
  boolean hasMore() {
    return more;
  }

  // ---- Reading

  /**
   * Returns the position to read next, at which an event may be that can be delivered; 0 for none.
   * Has the journal told of deliveries that begin with care.
   */
  long nextRead(long now) {
    long first = Long.MAX_VALUE;
    long unknown = Long.MAX_VALUE;
    for (KeySlot slot : slots) {
      if (slot == null || !slot.isFree(now) || (full && !slot.hasOld())) {
        continue;
      }
      long position = slot.candidate();
      if (position == 0) {
        unknown = Math.min(unknown, slot.next());
      } else if (slot.attempt() > maxAttempts) {
        bury(slot, CONSUMER_LOST);
      } else if (slot.isCareful()) {
        slot.announce();
        changed = true;
      } else {
        first = Math.min(first, position);
      }
    }
    long next = first == Long.MAX_VALUE ? unknown : first;
    return next == Long.MAX_VALUE ? 0 : next;
  }

  /** Returns whether an event waits for its time. */
  boolean hasWaiting(long now) {
    for (KeySlot slot : slots) {
      if (slot != null && slot.isWaiting(now)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Takes note of an event.
   *
   * @param from the position from which on all events are looked at
   * @return its slot if it can be delivered now; null if not
   */
  @Nullable KeySlot found(int number, long position, long from, long now) {
    KeySlot slot = slots[number];
    if (slot == null || slot.isLeaving()) {
      return null;
    }
    if (slot.next() >= from && slot.next() <= position && !slot.isBehind()) {
      // The first event of each slot is always known: else the slot would not go on.
      if (known >= MAX_KNOWN && slot.candidate() != 0) {
        slot.behind(position);
        return null;
      }
      slot.found(position);
      known++;
    }
    return slot.candidate() == position && canDeliver(slot, now) ? slot : null;
  }

  private boolean canDeliver(KeySlot slot, long now) {
    return slot.isFree(now)
        && !(full && !slot.hasOld())
        && slot.attempt() <= maxAttempts
        && !slot.isCareful();
  }

  /**
   * Settles the next event of a slot if it is in a range whose events do not come; returns its
   * position, or 0 if it is not.
   */
  long lost(KeySlot slot, long from, long to, long now) {
    long position = slot.candidate();
    if (position < from || position > to || !slot.isFree(now)) {
      return 0;
    }
    slot.begin();
    done(slot);
    return position;
  }

  /**
   * Takes note that all events from one position to another were looked at. One that could be
   * delivered and was not met is not there any more.
   */
  void passed(long from, long to, long now) {
    for (KeySlot slot : slots) {
      if (slot == null || slot.isLeaving()) {
        continue;
      }
      moved |= slot.passed(from, to);
      if (slot.candidate() >= from && slot.candidate() <= to && canDeliver(slot, now)) {
        slot.begin();
        done(slot);
      }
    }
  }

  // ---- Settlements

  /** Settles the event of a slot that is with the client. */
  void done(KeySlot slot) {
    if (slot.isAgain()) {
      end(slot, 0, "");
    } else {
      settle(slot);
    }
  }

  /** Lets the event be delivered once more after a time, or buries it after the last attempt. */
  void fail(KeySlot slot, long delayMillis, String reason, long now) {
    if (slot.attempt() >= maxAttempts) {
      bury(slot, reason);
    } else {
      slot.retry(delayMillis, now);
      changed = true;
    }
  }

  /** Makes the event of a slot a dead letter. */
  void bury(KeySlot slot, String reason) {
    end(slot, Math.min(slot.attempt(), maxAttempts), reason);
  }

  /** Lets the event be delivered again at once, as if it had not been. */
  void release(KeySlot slot) {
    changed |= slot.isAnnounced();
    slot.release();
  }

  private void end(KeySlot slot, int attempts, String reason) {
    ends.add(new SlotEnd(0, slot.number, slot.current(), slot.isAgain(), attempts, reason));
    if (slot.isAgain()) {
      endedAgain.put(slot.current(), Long.MAX_VALUE);
    }
    settle(slot);
  }

  private void settle(KeySlot slot) {
    slot.settle();
    known--;
    changed = true;
  }

  /** Returns how many ends are not known to be stored. */
  int unstoredEnds() {
    return ends.size() + toldEnds.size();
  }

  // ---- What the journal is told

  /** Returns whether the journal has to be told something. */
  boolean hasChanged() {
    return changed;
  }

  /** Returns whether positions were passed of which the journal was not told. */
  boolean hasMoved() {
    return moved;
  }

  private long upTo() {
    long upTo = 0;
    for (KeySlot slot : slots) {
      if (slot != null) {
        upTo = Math.max(upTo, slot.floor());
      }
    }
    return count == 0 ? toldUpTo : upTo;
  }

  /** Returns what the journal is told now. */
  Told progress(long now) {
    changed = false;
    moved = false;
    serial++;
    toldUpTo = upTo();
    TreeMap<Integer, SlotState> exceptions = new TreeMap<>();
    TreeSet<Integer> given = new TreeSet<>();
    List<KeySlot> announced = new ArrayList<>();
    List<KeySlot> leaving = new ArrayList<>();
    for (KeySlot slot : slots) {
      if (slot == null) {
        continue;
      }
      SlotState state = slot.state(now);
      if (!state.equals(SlotState.at(toldUpTo))) {
        exceptions.put(slot.number, state);
      }
      if (slot.isAnnounced()) {
        announced.add(slot);
      }
      if (slot.canBeGiven()) {
        slot.give();
        given.add(slot.number);
        leaving.add(slot);
      }
    }
    int room = SlotEnd.MAX_TOGETHER - toldEnds.size();
    List<SlotEnd> fresh = ends.subList(0, Math.min(room, ends.size()));
    for (SlotEnd end : fresh) {
      toldEnds.add(
          new SlotEnd(
              serial, end.slot(), end.position(), end.again(), end.attempts(), end.reason()));
      if (end.again()) {
        endedAgain.put(end.position(), serial);
      }
    }
    fresh.clear();
    Told told =
        new Told(new SlotProgress(serial, generation, toldUpTo, exceptions, toldEnds, given));
    told.announced.addAll(announced);
    told.given.addAll(leaving);
    return told;
  }

  /** Takes note that something is stored that the journal was told. */
  void stored(Told told) {
    told.announced.forEach(KeySlot::stored);
    toldEnds.removeAll(told.progress.ends());
    for (KeySlot slot : told.given) {
      if (slots[slot.number] == slot) {
        remove(slot);
      }
    }
    changed |= !ends.isEmpty();
  }

  /** Takes note that it is not known whether something is stored. */
  void unstored() {
    changed = true;
  }
}
