package io.eventbus.server.durable;

import io.eventbus.journal.CursorMode;
import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.Settlement.Outcome;
import io.eventbus.journal.TakenRun;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.TruncatedReason;
import io.eventbus.server.delivery.Delivery;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Consumer of a shared durable subscription. When it has room it waits for its turn to take events
 * (see {@link SharedCursor}), reads them, sends those that its filter selects in small frames, and
 * settles the others by itself. What its client does not settle in time, and what it cannot send,
 * it gives back.
 */
public final class SharedConsumer extends QueueConsumer {
  /** Maximum number of positions that a consumer has taken and not settled: the journal's. */
  public static final int MAX_EVENTS = 1_024;

  /** Time after which events go back that the client has no room for. */
  static final long HOLD_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Size of an event before the first one was sent. */
  private static final int FIRST_AVERAGE = 1_024;

  /** Weight of what was known before in an average, of which the last frame has one. */
  private static final int AVERAGE_WEIGHT = 3;

  /** Positions of which one at least has to be for the client; else more are taken next time. */
  private static final int ENOUGH = 4;

  /** Number of positions up to which as little as possible is read. */
  private static final int FEW = 16;

  /** Limits of a client. */
  public record Limits(int maxEvents, int ackTimeoutMillis, int maxAttempts) {
    /** Returns the heap that a consumer takes because of these, about. */
    public long heapBytes() {
      return (long) maxEvents * UnsettledEvents.RANGE_BYTES;
    }
  }

  /** Answer to a settlement of a client. */
  public enum Settled {
    /** The consumer had all events; they are settled, or will be. */
    ACCEPTED,
    /** The consumer has some of the events no more; the others are settled. */
    LATE,
    /** Too many settlements wait for their answer; nothing was done. */
    TOO_MANY
  }

  private final Limits limits;
  private final SharedCursor cursor;
  private final UnsettledEvents unsettled;
  private final SettlementQueue settlements;
  private final Queue<TakenRun> runs = new ArrayDeque<>(0);
  private final String timedOut;
  private long epoch;
  // Number of records by which it has taken events.
  private long takes;
  // The next position of the first run, and when something was taken or sent last.
  private long next;
  private long movedAt;
  private boolean reading;
  private boolean asking;
  // Positions that the journal counts for this consumer.
  private int inFlight;
  // Positions to take for an event: a power of two that grows while the filter selects few.
  private int spread = 1;
  // Of what was taken last: positions that were passed, and events among them for the client.
  private int passed;
  private int matched;
  private boolean sending;
  private long average = FIRST_AVERAGE;
  private long sentTo;

  /** Creates a consumer, which does nothing before {@link #start}. */
  public SharedConsumer(
      JournalConsumers all, JournalInfo info, Wish wish, Limits limits, Line line) {
    super(all, info, wish, line);
    this.limits = limits;
    cursor = all.shared().acquire(info.number(), wish.name());
    unsettled = new UnsettledEvents(limits.maxEvents());
    settlements = new SettlementQueue(all.memory(), new Target());
    timedOut = "not settled within " + limits.ackTimeoutMillis() + " ms";
  }

  @Override
  public long heapBytes() {
    return limits.heapBytes();
  }

  @Override
  void begin(long first) {
    throw new IllegalStateException("a shared consumer without a name");
  }

  @Override
  CursorMode mode() {
    return CursorMode.SHARED;
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
      advance();
    } else {
      refused(result, failure);
    }
  }

  // ---- Taking

  @Override
  void turn() {
    line.execute(this::take);
  }

  @Override
  void regrouped() {
    // It has no slots.
  }

  private int free() {
    return limits.maxEvents() - unsettled.events();
  }

  private boolean canTake() {
    return phase() == Phase.FEEDING
        && !asking
        && runs.isEmpty()
        && free() > 0
        && inFlight < MAX_EVENTS
        && hasCredit();
  }

  private void take() {
    if (!canTake()) {
      cursor.pass(this);
      return;
    }
    long wanted = Math.min(free(), 1 + (credit() - 1) / average) * spread;
    int max = (int) Math.min(wanted, MAX_EVENTS - inFlight);
    asking = true;
    var unused =
        journals
            .takeEvents(journal.number(), wish().name(), epoch, ++takes, max)
            .whenComplete(
                (result, failure) -> {
                  cursor.took(this, result);
                  line.execute(() -> took(result, failure));
                });
  }

  private void took(@Nullable RecordResult result, @Nullable Throwable failure) {
    asking = false;
    if (phase() == Phase.ENDED) {
      // The leave follows this record: other consumers get what was taken.
      return;
    }
    if (failure instanceof JournalsUnavailableException refused && refused.isUnsent()) {
      if (!mayFinish()) {
        all.timer().run(() -> line.execute(this::advance), PAUSE_MILLIS);
      }
      return;
    }
    if (!(result instanceof RecordResult.Taken answer)) {
      // Without an answer the consumer may have unknown events. Others get them when it leaves.
      refuse(result, failure);
      return;
    }
    passed = 0;
    matched = 0;
    for (TakenRun run : answer.runs()) {
      if (runs.isEmpty()) {
        next = run.from();
      }
      runs.add(run);
      inFlight += run.events();
    }
    movedAt = all.nanoTime();
    if (phase() == Phase.FINISHING) {
      giveBack();
      settlements.flush();
      mayFinish();
    } else {
      advance();
    }
  }

  private void refuse(@Nullable RecordResult result, @Nullable Throwable failure) {
    if (phase() == Phase.FINISHING) {
      end();
      line.finished(this);
    } else if (result instanceof RecordResult.Refused refused
        && refused.reason() == JournalRefusalReason.STALE_EPOCH) {
      refused(ErrorCode.REPLACED, refused.message(), true);
    } else {
      refused(result, failure);
    }
  }

  // ---- Reading and sending

  @Override
  void goOn() {
    if (sending) {
      // Whoever sends goes on.
      return;
    }
    while (phase() == Phase.FEEDING && !reading && !runs.isEmpty()) {
      if (free() <= 0) {
        // More events match than could be known.
        giveBack();
      } else if (!hasCredit() || !acquireRoom()) {
        line.tickSoon(this);
        break;
      } else {
        read();
      }
    }
    if (!reading) {
      releaseRoom();
    }
    settlements.flush();
    if (canTake()) {
      cursor.want(this);
    }
  }

  private void read() {
    List<FeedPiece> pieces = tail.find(journal, next, wish().filter(), all.stamp());
    if (pieces != null) {
      sendAndRelease(pieces.stream().map(FeedPiece::retained).toList());
      return;
    }
    line.tickSoon(this);
    reading = true;
    long position = next;
    TakenRun run = runs.element();
    long bytes = run.to() - position < FEW ? 1 : READ_BYTES;
    all.reads().add(line.address(), () -> readOn(position, bytes));
  }

  @Override
  void wasRead(long position, List<FeedPiece> pieces) {
    reading = false;
    if (phase() == Phase.FEEDING && !runs.isEmpty() && next == position) {
      sendAndRelease(pieces);
    } else {
      pieces.forEach(FeedPiece::release);
    }
    if (phase() != Phase.ENDED) {
      advance();
    }
  }

  private void sendAndRelease(List<FeedPiece> pieces) {
    sending = true;
    try {
      FeedPiece piece = find(pieces);
      while (piece != null) {
        piece = send(piece) ? find(pieces) : null;
      }
    } finally {
      sending = false;
      pieces.forEach(FeedPiece::release);
    }
    releaseRoom();
  }

  /** Returns the piece that has the next position; null if there is none. */
  private @Nullable FeedPiece find(List<FeedPiece> pieces) {
    if (runs.isEmpty()) {
      return null;
    }
    for (FeedPiece piece : pieces) {
      if (piece.from() <= next && next <= piece.to()) {
        return piece;
      }
    }
    return null;
  }

  /** Sends what the first run has of a piece; returns false if it cannot go on. */
  private boolean send(FeedPiece piece) {
    TakenRun run = runs.element();
    long end = Math.min(run.to(), piece.to());
    TruncatedReason hole = piece.hole();
    Delivery events = piece.frames();
    if (hole != null) {
      sendTruncated(next, end, hole);
    } else if (events != null) {
      FeedCutter cutter = new FeedCutter(events.frame(), next, end);
      FeedCutter.Portion portion = cutter.next(Math.min(free(), FeedCutter.MAX_EVENTS));
      while (portion != null) {
        send(run, portion);
        if (phase() != Phase.FEEDING) {
          return false;
        }
        if (next <= end && (free() <= 0 || !hasCredit())) {
          return false;
        }
        portion = next > end ? null : cutter.next(Math.min(free(), FeedCutter.MAX_EVENTS));
      }
    }
    if (phase() != Phase.FEEDING) {
      return false;
    }
    done(run, end);
    if (next > run.to()) {
      runs.remove();
      beginRun();
    }
    return true;
  }

  private void send(TakenRun run, FeedCutter.Portion portion) {
    long now = all.nanoTime();
    long deadline = now + TimeUnit.MILLISECONDS.toNanos(limits.ackTimeoutMillis());
    for (FeedCutter.Span span : portion.spans()) {
      done(run, span.from() - 1);
      unsettled.add(span.from(), span.to(), run.attempt(), deadline);
      next = span.to() + 1;
    }
    matched += portion.events();
    passed += portion.events();
    average =
        (average * AVERAGE_WEIGHT + portion.bytes() / portion.events()) / (AVERAGE_WEIGHT + 1);
    average = Math.max(1, average);
    sentTo = Math.max(sentTo, portion.to());
    movedAt = now;
    // For the ack timeout.
    line.tickSoon(this);
    sendFeed(
        portion.from(),
        portion.to(),
        run.attempt(),
        portion.events(),
        portion.bytes(),
        portion.frames());
  }

  /** Goes on with the next run; after the last one, decides how much is taken next time. */
  private void beginRun() {
    TakenRun run = runs.peek();
    if (run != null) {
      next = run.from();
    } else if (matched * ENOUGH < passed) {
      spread = Math.min(MAX_EVENTS, spread * 2);
    } else {
      spread = Math.max(1, spread / 2);
    }
  }

  /** Settles positions from the next one on that are not for the client, and passes over them. */
  private void done(TakenRun run, long to) {
    if (next <= to) {
      settlements.add(next, to, run.attempt(), Outcome.DONE, -1, "");
      passed += (int) (to - next + 1);
      next = to + 1;
    }
  }

  /** Gives back to other consumers what was not sent. */
  private void giveBack() {
    while (!runs.isEmpty()) {
      TakenRun run = runs.remove();
      settlements.add(next, run.to(), run.attempt(), Outcome.RELEASE, -1, "");
      beginRun();
    }
  }

  // ---- Settlements

  @Override
  public long sentTo() {
    return sentTo;
  }

  @Override
  public Settled settle(
      long from,
      long to,
      int attempt,
      Outcome outcome,
      long delayMillis,
      String reason,
      boolean confirm) {
    if (confirm && settlements.confirmations() >= MAX_CONFIRMATIONS) {
      return Settled.TOO_MANY;
    }
    boolean complete =
        unsettled.settle(
            from,
            to,
            attempt,
            (first, last, number) ->
                settlements.add(first, last, number, outcome, delayMillis, reason));
    if (complete && confirm) {
      settlements.confirm(to);
    }
    settlements.flush();
    if (!mayFinish()) {
      advance();
    }
    return complete ? Settled.ACCEPTED : Settled.LATE;
  }

  @Override
  public boolean extend(long from, long to, int attempt) {
    long deadline = all.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limits.ackTimeoutMillis());
    return unsettled.extend(from, to, attempt, deadline);
  }

  @Override
  public boolean tick() {
    if (!isActive()) {
      return true;
    }
    long now = all.nanoTime();
    unsettled.expire(
        now, (from, to, attempt) -> settlements.add(from, to, attempt, Outcome.RETRY, 0, timedOut));
    long hold = reading ? TimeUnit.MILLISECONDS.toNanos(limits.ackTimeoutMillis()) : HOLD_NANOS;
    if (!runs.isEmpty() && now - movedAt >= hold) {
      giveBack();
    }
    settlements.flush();
    if (mayFinish()) {
      return true;
    }
    advance();
    return phase() == Phase.ENDED || (runs.isEmpty() && unsettled.events() == 0);
  }

  @Override
  public void keepCursor() {
    if (phase() == Phase.FEEDING) {
      var unused =
          journals
              .settleEvents(journal.number(), wish().name(), epoch, 0, List.of())
              .whenComplete(
                  (result, failure) -> {
                    if (result instanceof RecordResult.Refused) {
                      line.execute(() -> refuse(result, null));
                    }
                  });
    }
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
    giveBack();
    settlements.flush();
    boolean unused = mayFinish();
  }

  /**
   * Ends a consumer that finishes, has nothing unsettled and has stored all settlements; returns
   * whether it did.
   */
  private boolean mayFinish() {
    if (phase() != Phase.FINISHING || asking || unsettled.events() > 0 || !settlements.isEmpty()) {
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
    giveBack();
    phase(Phase.ENDED);
    settlements.close();
    if (joined) {
      cursor.leave(this, epoch, lost);
    }
    cursor.release();
    release();
  }

  /** Journal and connection of the settlements. */
  private final class Target implements SettlementQueue.Target {
    @Override
    public void send(SettlementQueue.Batch batch) {
      var unused =
          journals
              .settleEvents(journal.number(), wish().name(), epoch, batch.serial, batch.settlements)
              .whenComplete(
                  (result, failure) ->
                      line.execute(() -> settlements.answered(batch, result, failure)));
    }

    @Override
    public void retry() {
      all.timer().run(() -> line.execute(settlements::again), PAUSE_MILLIS);
    }

    @Override
    public void stored(int positions) {
      inFlight -= positions;
      if (phase() == Phase.FEEDING) {
        advance();
      } else {
        boolean unused = mayFinish();
      }
    }

    @Override
    public void settled(long upTo) {
      line.settled(SharedConsumer.this, upTo);
    }

    @Override
    public void unsettled(@Nullable RecordResult refused, @Nullable Throwable failure) {
      line.unsettled(
          SharedConsumer.this,
          refused instanceof RecordResult.Refused why ? why.message() : message(failure));
    }

    @Override
    public void refused(RecordResult.Refused refused) {
      refuse(refused, null);
    }
  }
}
