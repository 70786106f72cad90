package io.eventbus.server.durable;

import io.eventbus.journal.CursorMode;
import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.Settlement;
import io.eventbus.journal.Settlement.Outcome;
import io.eventbus.journal.SlotEnd;
import io.eventbus.journal.SlotState;
import io.eventbus.journal.SlotsView;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.TruncatedReason;
import io.eventbus.server.delivery.Delivery;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Consumer of a key-shared durable subscription. The journal says which slots it has; of these it
 * reads the events and sends each when the one before of its slot is settled, and tells the journal
 * how far the slots have come. Slots that another consumer is to have it gives up when nothing of
 * them is with the client.
 */
public final class KeySharedConsumer extends QueueConsumer {
  /** Time after which the journal is told of progress that settles nothing. */
  static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Time without an answer of the journal after which nothing more is delivered. */
  static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** Slot whose consumer tells what has gone before anybody got it: each is told once. */
  private static final int TELLING_SLOT = 0;

  /** Heap of a consumer without slots, about. */
  private static final int HEAP_BYTES = SlotState.SLOTS * Long.BYTES;

  private final SharedConsumer.Limits limits;
  private final SharedCursor cursor;
  private final UnsettledEvents unsettled;
  private final KeySlots slots;
  private final Map<Long, KeySlot> sent = new HashMap<>();
  private final String timedOut;
  private final Runnable look = this::look;
  private long epoch;
  private long sentTo;
  private boolean reading;
  private boolean sending;
  private boolean looking;
  private boolean lookAgain;
  private boolean goesOn;
  // Heap of the slots that is accounted for.
  private int heap;
  // What the journal is told, and the settlements whose clients wait for it, or for the next one.
  private KeySlots.@Nullable Told underWay;
  private boolean waits;
  private boolean doubtful;
  private long toldAt;
  private List<Long> confirmations = new ArrayList<>(0);
  private List<Long> waiting = new ArrayList<>(0);

  /** Creates a consumer, which does nothing before {@link #start}. */
  public KeySharedConsumer(
      JournalConsumers all, JournalInfo info, Wish wish, SharedConsumer.Limits limits, Line line) {
    super(all, info, wish, line);
    this.limits = limits;
    cursor = all.shared().acquire(info.number(), wish.name());
    unsettled = new UnsettledEvents(limits.maxEvents());
    slots = new KeySlots(limits.maxAttempts());
    timedOut = "not settled within " + limits.ackTimeoutMillis() + " ms";
  }

  /** Returns the heap that a consumer with these limits takes beyond that of any, about. */
  public static long heapBytes(SharedConsumer.Limits limits) {
    return HEAP_BYTES + limits.heapBytes();
  }

  @Override
  public long heapBytes() {
    return heapBytes(limits);
  }

  @Override
  void begin(long first) {
    throw new IllegalStateException("a key-shared consumer without a name");
  }

  @Override
  CursorMode mode() {
    return CursorMode.KEY_SHARED;
  }

  @Override
  void joinCursor() {
    var unused =
        cursor
            .join(this, limits.maxAttempts())
            .whenComplete((result, failure) -> line.execute(() -> joined(result, failure)));
  }

  private void joined(@Nullable RecordResult result, @Nullable Throwable failure) {
    if (result instanceof RecordResult.CursorState state) {
      epoch = state.epoch();
      if (phase() == Phase.ENDED) {
        opened();
        cursor.leave(this, epoch, false);
        return;
      }
      accepted(Phase.FEEDING);
      lookSoon();
    } else {
      refused(result, failure);
    }
  }

  // ---- Slots

  @Override
  void turn() {
    throw new IllegalStateException("a turn for a key-shared consumer");
  }

  @Override
  void regrouped() {
    line.execute(this::lookSoon);
  }

  /** Looks which slots it has, when nothing of that is under way. */
  private void lookSoon() {
    if (!isActive()) {
      return;
    }
    if (looking) {
      lookAgain = true;
    } else {
      looking = true;
      all.reads().add(line.address(), look);
    }
  }

  /** Looks which slots it has, on a thread that may wait for the disk. */
  private void look() {
    if (phase() == Phase.ENDED) {
      return;
    }
    SlotsView view;
    try {
      view = journals.slots(journal.number(), wish().name(), epoch);
    } catch (JournalsUnavailableException e) {
      all.looks().later(line.address(), look);
      return;
    } catch (RuntimeException e) {
      unreadable();
      throw e;
    }
    line.execute(() -> looked(view));
  }

  private void looked(@Nullable SlotsView view) {
    looking = false;
    if (!isActive()) {
      return;
    }
    if (view == null) {
      // The answer to progress says why.
      slots.unstored();
    } else {
      slots.adopt(view, all.stamp(), all.nanoTime());
      // For events that wait for their time.
      line.tickSoon(this);
    }
    if (lookAgain) {
      lookAgain = false;
      lookSoon();
    }
    advance();
  }

  // ---- Reading and sending

  private int free() {
    return Math.min(limits.maxEvents(), SlotEnd.MAX_TOGETHER - slots.unstoredEnds())
        - unsettled.events();
  }

  private boolean canSend() {
    return phase() == Phase.FEEDING && free() > 0 && hasCredit() && isTold();
  }

  /**
   * Returns whether the journal takes the progress. While it does not, others may take the bus for
   * lost, and deliver the events of its slots: so it delivers no more.
   */
  private boolean isTold() {
    return !doubtful && (underWay == null || all.nanoTime() - toldAt < SILENCE_NANOS);
  }

  @Override
  void goOn() {
    if (sending) {
      // Whoever sends goes on.
      return;
    }
    while (canSend() && !reading) {
      long position = slots.nextRead(all.nanoTime());
      if (position == 0 || (position > journal.head() && !awaitNext(position))) {
        break;
      }
      if (!acquireRoom()) {
        break;
      }
      read(position);
    }
    if (!reading) {
      releaseRoom();
    }
    flush();
    account();
  }

  /** Returns false if it has to wait for the event at a position. */
  private boolean awaitNext(long position) {
    LoopWaiters waiters = journal.waiters(line.loop());
    waiters.add(this);
    if (position > journal.head()) {
      return false;
    }
    waiters.remove(this);
    return true;
  }

  private void read(long position) {
    List<FeedPiece> pieces = tail.find(journal, position, wish().filter(), all.stamp());
    if (pieces != null) {
      sendAndRelease(position, pieces.stream().map(FeedPiece::retained).toList());
      return;
    }
    reading = true;
    all.reads().add(line.address(), () -> readOn(position, READ_BYTES));
  }

  @Override
  void wasRead(long position, List<FeedPiece> pieces) {
    reading = false;
    if (phase() == Phase.FEEDING) {
      sendAndRelease(position, pieces);
    } else {
      pieces.forEach(FeedPiece::release);
    }
    if (phase() != Phase.ENDED) {
      advance();
    }
  }

  private void sendAndRelease(long position, List<FeedPiece> pieces) {
    sending = true;
    try {
      long from = position;
      for (FeedPiece piece : pieces) {
        if (piece.to() >= from && canSend()) {
          from = send(piece, from) + 1;
        }
      }
    } finally {
      sending = false;
      pieces.forEach(FeedPiece::release);
    }
    releaseRoom();
    // For the progress, and for the ack timeout.
    line.tickSoon(this);
  }

  /** Sends what can be sent of a piece from a position on; returns how far it has come. */
  private long send(FeedPiece piece, long from) {
    TruncatedReason hole = piece.hole();
    Delivery events = piece.frames();
    long to = piece.to();
    if (hole != null) {
      skip(from, to, hole);
    } else if (events != null) {
      to = send(new KeyedEvents(events.frame(), from), from, to);
    }
    slots.passed(from, to, all.nanoTime());
    return to;
  }

  private long send(KeyedEvents events, long from, long to) {
    Portion portion = new Portion();
    while (events.next() && events.position() <= to) {
      if (free() - portion.slots.size() <= 0) {
        portion.send();
        return events.position() - 1;
      }
      long now = all.nanoTime();
      KeySlot slot = slots.found(events.slot(), events.position(), from, now);
      if (slot != null) {
        ByteBuffer frame = events.frame();
        if (!portion.hasRoom(slot, events.position(), frame)) {
          portion.send();
          if (!canSend()) {
            return events.position() - 1;
          }
        }
        portion.add(slot, events.position(), frame);
      }
    }
    portion.send();
    return to;
  }

  /**
   * Events for one {@code Feed}, no two of which are of one slot. Their positions follow each
   * other, so that a range of them that is settled names no other event.
   */
  private final class Portion {
    private final List<KeySlot> slots = new ArrayList<>();
    private final List<ByteBuffer> frames = new ArrayList<>();
    private int bytes;
    private long from;
    private long to;

    boolean hasRoom(KeySlot slot, long position, ByteBuffer frame) {
      return slots.isEmpty()
          || (position == to + 1
              && slots.size() < FeedCutter.MAX_EVENTS
              && bytes + frame.remaining() <= FeedCutter.MAX_BYTES
              && slots.get(0).attempt() == slot.attempt());
    }

    void add(KeySlot slot, long position, ByteBuffer frame) {
      slot.send();
      if (slots.isEmpty()) {
        from = position;
      }
      slots.add(slot);
      frames.add(frame);
      bytes += frame.remaining();
      to = position;
    }

    void send() {
      if (slots.isEmpty()) {
        return;
      }
      long deadline = deadline();
      int attempt = slots.get(0).attempt();
      for (KeySlot slot : slots) {
        unsettled.add(slot.current(), slot.current(), attempt, deadline);
        sent.put(slot.current(), slot);
      }
      sentTo = Math.max(sentTo, to);
      sendFeed(from, to, attempt, slots.size(), bytes, frames);
      slots.clear();
      frames.clear();
      bytes = 0;
    }
  }

  private long deadline() {
    return all.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limits.ackTimeoutMillis());
  }

  /**
   * Passes over positions whose events do not come. Those that are known to be of a slot are told;
   * those that nobody has looked at are told by the consumer of one slot.
   */
  private void skip(long from, long to, TruncatedReason hole) {
    long first = Long.MAX_VALUE;
    long last = 0;
    for (int number = 0; number < SlotState.SLOTS; number++) {
      KeySlot slot = slots.get(number);
      if (slot == null || slot.isLeaving()) {
        continue;
      }
      if (number == TELLING_SLOT && slot.next() >= from && slot.next() <= to) {
        first = Math.min(first, slot.next());
        last = to;
      }
      for (long position = slots.lost(slot, from, to, all.nanoTime());
          position != 0;
          position = slots.lost(slot, from, to, all.nanoTime())) {
        first = Math.min(first, position);
        last = Math.max(last, position);
      }
    }
    if (last > 0) {
      sendTruncated(first, last, hole);
    }
  }

  // ---- Settlements

  @Override
  public long sentTo() {
    return sentTo;
  }

  @Override
  public SharedConsumer.Settled settle(
      long from,
      long to,
      int attempt,
      Outcome outcome,
      long delayMillis,
      String reason,
      boolean confirm) {
    if (confirm && confirmations.size() + waiting.size() >= MAX_CONFIRMATIONS) {
      return SharedConsumer.Settled.TOO_MANY;
    }
    boolean complete =
        unsettled.settle(
            from,
            to,
            attempt,
            (first, last, number) -> settle(first, last, outcome, delayMillis, reason));
    if (complete && confirm) {
      waiting.add(to);
      slots.unstored();
    }
    if (!mayFinish() && !goesOn) {
      // Behind the other settlements of the message.
      goesOn = true;
      line.execute(this::goOnSoon);
    }
    return complete ? SharedConsumer.Settled.ACCEPTED : SharedConsumer.Settled.LATE;
  }

  private void goOnSoon() {
    goesOn = false;
    if (isActive()) {
      advance();
    }
  }

  private void settle(long from, long to, Outcome outcome, long delayMillis, String reason) {
    for (long position = from; position <= to; position++) {
      KeySlot slot = sent.remove(position);
      if (slot == null) {
        throw new IllegalStateException("position " + position + " is unsettled, and not sent");
      }
      switch (outcome) {
        case DONE -> slots.done(slot);
        case RETRY -> {
          long delay = delayMillis >= 0 ? delayMillis : Settlement.backOffMillis(slot.attempt());
          slots.fail(slot, delay, reason, all.nanoTime());
          // For the end of the delay.
          line.tickSoon(this);
        }
        case REJECT -> slots.bury(slot, reason);
        case RELEASE -> slots.release(slot);
      }
    }
  }

  @Override
  public boolean extend(long from, long to, int attempt) {
    return unsettled.extend(from, to, attempt, deadline());
  }

  /** Tells the journal what has changed, unless it is being told. */
  private void flush() {
    if (!isActive() || underWay != null || waits || !slots.hasChanged()) {
      return;
    }
    KeySlots.Told told = slots.progress(all.nanoTime());
    underWay = told;
    toldAt = all.nanoTime();
    confirmations.addAll(waiting);
    waiting.clear();
    var unused =
        journals
            .settleSlots(journal.number(), wish().name(), epoch, told.progress)
            .whenComplete((result, failure) -> line.execute(() -> answered(told, result, failure)));
  }

  private void answered(
      KeySlots.Told told, @Nullable RecordResult result, @Nullable Throwable failure) {
    if (underWay != told) {
      return;
    }
    underWay = null;
    answer(result, failure);
    if (phase() == Phase.ENDED) {
      return;
    }
    doubtful = result == null;
    if (result instanceof RecordResult.Done) {
      slots.stored(told);
      if (told.endsAgain() && slots.hasMore()) {
        lookSoon();
      }
    } else if (result instanceof RecordResult.Refused) {
      refuse(result);
      return;
    } else {
      slots.unstored();
      waits = true;
      all.timer().run(() -> line.execute(this::goOnTelling), PAUSE_MILLIS);
    }
    if (!mayFinish()) {
      advance();
    }
  }

  private void goOnTelling() {
    waits = false;
    advance();
  }

  private void answer(@Nullable RecordResult result, @Nullable Throwable failure) {
    List<Long> answered = List.copyOf(confirmations);
    confirmations.clear();
    for (long upTo : answered) {
      if (result instanceof RecordResult.Done) {
        line.settled(this, upTo);
      } else {
        line.unsettled(
            this,
            result instanceof RecordResult.Refused refused ? refused.message() : message(failure));
      }
    }
  }

  private void refuse(RecordResult result) {
    if (phase() == Phase.FINISHING) {
      end();
      line.finished(this);
    } else if (result instanceof RecordResult.Refused refused
        && refused.reason() == JournalRefusalReason.STALE_EPOCH) {
      refused(ErrorCode.REPLACED, refused.message(), true);
    } else {
      refused(result, null);
    }
  }

  @Override
  public boolean tick() {
    if (!isActive()) {
      return true;
    }
    long now = all.nanoTime();
    unsettled.expire(now, (from, to, attempt) -> settle(from, to, Outcome.RETRY, 0, timedOut));
    if (slots.hasMoved() && now - toldAt >= QUIET_NANOS) {
      slots.unstored();
    }
    if (mayFinish()) {
      return true;
    }
    advance();
    return phase() == Phase.ENDED
        || (unsettled.events() == 0 && !slots.hasMoved() && !slots.hasWaiting(now));
  }

  /** Tells the journal the same again. */
  @Override
  public void keepCursor() {
    if (phase() == Phase.FEEDING) {
      slots.unstored();
      flush();
    }
  }

  /** Accounts for the heap of the slots. */
  private void account() {
    int next = phase() == Phase.ENDED ? 0 : slots.heapBytes();
    all.memory().change(next - heap);
    heap = next;
  }

  // ---- The end

  @Override
  public void finish() {
    if (phase() != Phase.FEEDING) {
      end();
      line.finished(this);
      return;
    }
    phase(Phase.FINISHING);
    flush();
    boolean unused = mayFinish();
  }

  /**
   * Ends a consumer that finishes, has nothing unsettled and has stored everything; returns whether
   * it did.
   */
  private boolean mayFinish() {
    if (phase() != Phase.FINISHING || unsettled.events() > 0) {
      return false;
    }
    flush();
    if (underWay != null || slots.hasChanged()) {
      return false;
    }
    end();
    line.finished(this);
    return true;
  }

  @Override
  public void end() {
    end(false);
  }

  @Override
  public void end(boolean lost) {
    if (phase() == Phase.ENDED) {
      return;
    }
    boolean joined = isActive();
    long now = all.nanoTime();
    for (KeySlot slot : sent.values()) {
      if (lost) {
        slots.fail(slot, 0, KeySlots.CONSUMER_LOST, now);
      } else {
        slots.release(slot);
      }
    }
    sent.clear();
    phase(Phase.ENDED);
    account();
    journal.waiters(line.loop()).remove(this);
    all.looks().remove(look);
    if (joined) {
      leave();
    }
    cursor.release();
    release();
  }

  /**
   * Tells the journal everything for the last time, and leaves. If it is not known whether that is
   * stored, the next consumers are careful, as after the loss of a bus.
   */
  private void leave() {
    confirmations.addAll(waiting);
    waiting.clear();
    underWay = null;
    var unused =
        journals
            .settleSlots(
                journal.number(), wish().name(), epoch, slots.progress(all.nanoTime()).progress)
            .whenComplete(
                (result, failure) -> {
                  cursor.leave(this, epoch, !(result instanceof RecordResult.Done));
                  line.execute(() -> answer(result, failure));
                });
  }
}
