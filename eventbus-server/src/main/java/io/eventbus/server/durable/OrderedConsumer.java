package io.eventbus.server.durable;

import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorView;
import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.RecordResult;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.TruncatedReason;
import io.eventbus.server.advisory.Advisory;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Consumer that gets the events of a journal in the order of their positions: that of an exclusive
 * durable subscription, or one without. It begins, stands by until it is active and its bus has the
 * cursor, gets the events from its position on, and settles them. What it gets next comes from the
 * chunks that were applied lately or, if it is behind them, from the disk; positions say where it
 * goes on, so that both join without a hole.
 */
public final class OrderedConsumer extends JournalConsumer {
  /** Maximum time between two frames while the journal grows. */
  private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Runnable activate = this::activate;
  private final Runnable look = this::lookAtCursor;
  private final Queue<FeedPiece> ready = new ArrayDeque<>(0);
  private boolean reading;
  private boolean begun;
  // Whether the cursor was another bus's when this consumer became active.
  private boolean taken;
  // The next position to read, and the last that the client was told of.
  private long next;
  private long told;
  private long toldAt;
  // Settlements: the cursor's consumer, what the client has settled, what the journal was asked.
  private long epoch;
  private long settled;
  private long asked;
  private boolean settling;
  private final Queue<Long> confirmations = new ArrayDeque<>(0);

  /** Creates a consumer, which does nothing before {@link #start}. */
  public OrderedConsumer(JournalConsumers all, JournalInfo info, Wish wish, Line line) {
    super(all, info, wish, line);
  }

  @Override
  void begin(long first) {
    accepted(Phase.STANDING_BY);
    feedFrom(first);
  }

  @Override
  CursorMode mode() {
    return CursorMode.EXCLUSIVE;
  }

  @Override
  void joinCursor() {
    accepted(Phase.STANDING_BY);
    if (phase() == Phase.STANDING_BY) {
      all.exclusive().join(journal.number(), wish().name(), activate);
    }
  }

  /** Called by any thread when all consumers before this one have left. */
  private void activate() {
    line.execute(() -> attach(0));
  }

  private void attach(long replaces) {
    if (phase() != Phase.STANDING_BY) {
      return;
    }
    var unused =
        all.exclusive()
            .attach(journal.number(), wish().name(), replaces)
            .whenComplete((result, failure) -> line.execute(() -> attached(result, failure)));
  }

  private void attached(@Nullable RecordResult result, @Nullable Throwable failure) {
    if (phase() != Phase.STANDING_BY) {
      return;
    }
    if (result instanceof RecordResult.CursorState cursor) {
      epoch = cursor.epoch();
      asked = cursor.floor();
      JournalName name = journal.info().name();
      all.advisories()
          .accept(
              new Advisory.ConsumerChanged(
                  name.account(), name.name(), wish().name(), line.connection(), epoch));
      feedFrom(cursor.floor() + 1);
    } else if (result instanceof RecordResult.Refused refused
        && refused.reason() == JournalRefusalReason.CURSOR_TAKEN) {
      if (taken) {
        lookLater();
      } else {
        taken = true;
        all.reads().add(line.address(), look);
      }
    } else {
      refused(result, failure);
    }
  }

  /** Looks whether the cursor is free, on a thread that may wait for the disk. */
  private void lookAtCursor() {
    if (phase() == Phase.ENDED) {
      return;
    }
    CursorView cursor;
    try {
      cursor = journals.cursor(journal.number(), wish().name());
    } catch (JournalsUnavailableException e) {
      lookLater();
      return;
    } catch (RuntimeException e) {
      unreadable();
      throw e;
    }
    if (cursor == null || cursor.owner().isEmpty()) {
      line.execute(() -> attach(0));
    } else if (all.owner().isGone().test(cursor.owner())) {
      line.execute(() -> attach(cursor.epoch()));
    } else {
      lookLater();
    }
  }

  private void lookLater() {
    all.looks().later(line.address(), look);
    if (phase() == Phase.ENDED) {
      all.looks().remove(look);
    }
  }

  // ---- The events

  private void feedFrom(long position) {
    if (phase() != Phase.STANDING_BY) {
      return;
    }
    phase(Phase.FEEDING);
    next = position;
    told = position - 1;
    advance();
  }

  @Override
  void goOn() {
    if (!ready.isEmpty()) {
      sendReady();
    }
    while (phase() == Phase.FEEDING && !reading && hasCredit()) {
      if (!begun) {
        begun = true;
        feed(next - 1, null);
      } else if (journal.isDeleted()) {
        refused(ErrorCode.NO_JOURNAL, noJournal(), false);
      } else if (next > journal.head()) {
        tellCovered();
        if (!awaitNext()) {
          return;
        }
      } else if (!acquireRoom()) {
        return;
      } else {
        take();
      }
    }
  }

  /** Returns false if it has to wait for the next event. */
  private boolean awaitNext() {
    LoopWaiters waiters = journal.waiters(line.loop());
    waiters.add(this);
    if (next > journal.head() && !journal.isDeleted()) {
      return false;
    }
    waiters.remove(this);
    return true;
  }

  private void take() {
    List<FeedPiece> pieces = tail.find(journal, next, wish().filter(), all.stamp());
    if (pieces == null) {
      read();
      return;
    }
    pieces.forEach(piece -> ready.add(piece.retained()));
    sendReady();
  }

  private void read() {
    reading = true;
    long position = next;
    all.reads().add(line.address(), () -> readOn(position, READ_BYTES));
  }

  @Override
  void wasRead(long position, List<FeedPiece> pieces) {
    if (phase() == Phase.ENDED) {
      pieces.forEach(FeedPiece::release);
      return;
    }
    reading = false;
    ready.addAll(pieces);
    advance();
  }

  /** Sends what is ready, as far as the credit lasts; the rest is read again. */
  private void sendReady() {
    for (FeedPiece piece = ready.poll(); piece != null; piece = ready.poll()) {
      try {
        if (piece.to() >= next && hasCredit()) {
          send(piece);
          next = piece.to() + 1;
        }
      } finally {
        piece.release();
      }
    }
    releaseRoom();
  }

  private void send(FeedPiece piece) {
    TruncatedReason hole = piece.hole();
    if (hole != null) {
      if (told < piece.from() - 1) {
        feed(piece.from() - 1, null);
      }
      sendTruncated(told + 1, piece.to(), hole);
      told(piece.to());
    } else if (piece.frames() != null) {
      feed(piece.to(), piece);
    } else {
      next = piece.to() + 1;
      tellCovered();
    }
  }

  /** Tells how far it has come without an event, if the client has heard nothing for a while. */
  private void tellCovered() {
    if (told == next - 1) {
      return;
    }
    if (all.nanoTime() - toldAt >= QUIET_NANOS) {
      feed(next - 1, null);
    } else {
      line.tickSoon(this);
    }
  }

  /** Tells how far it has come without an event, if that is due. */
  @Override
  public boolean tick() {
    if (phase() == Phase.FEEDING && told < next - 1 && hasCredit()) {
      if (all.nanoTime() - toldAt < QUIET_NANOS) {
        return false;
      }
      feed(next - 1, null);
    }
    return true;
  }

  /** Sends a {@code Feed} that covers everything up to a position. */
  private void feed(long to, @Nullable FeedPiece piece) {
    sendFeed(told + 1, to, piece);
    told(to);
  }

  private void told(long to) {
    told = to;
    toldAt = all.nanoTime();
  }

  // ---- Settlements

  /** Returns the last position that a client can know of. */
  public long head() {
    // The cursor may be ahead of what is applied at this bus.
    return Math.max(told, journal.head());
  }

  /**
   * Settles everything up to a position that the journal has, for a consumer that is active.
   *
   * @param confirm whether the client waits for the answer
   * @return false if too many settlements wait for theirs; then nothing was done
   */
  public boolean settle(long upTo, boolean confirm) {
    if (confirm) {
      if (confirmations.size() == MAX_CONFIRMATIONS) {
        return false;
      }
      confirmations.add(upTo);
    }
    settled = Math.max(settled, upTo);
    settle();
    return true;
  }

  /** Asks the journal for a settlement of everything so far, one at a time. */
  private void settle() {
    if (phase() != Phase.FEEDING || settling) {
      return;
    }
    if (settled <= asked && !confirmations.isEmpty()) {
      confirm(asked);
    }
    if (settled > asked) {
      asked = settled;
      settleCursor(settled);
    }
  }

  /** Settles what is settled again. */
  @Override
  public void keepCursor() {
    if (phase() == Phase.FEEDING && !wish().name().isEmpty() && !settling) {
      settleCursor(asked);
    }
  }

  private void settleCursor(long upTo) {
    settling = true;
    var unused =
        journals
            .settleCursor(journal.number(), wish().name(), epoch, upTo)
            .whenComplete((result, failure) -> line.execute(() -> settled(upTo, result, failure)));
  }

  private void settled(long upTo, @Nullable RecordResult result, @Nullable Throwable failure) {
    settling = false;
    if (phase() == Phase.ENDED) {
      answerLeft(upTo, result, failure);
    } else if (result instanceof RecordResult.CursorState) {
      confirm(upTo);
      settle();
    } else if (result instanceof RecordResult.Refused) {
      refused(result, failure);
    } else {
      // Another one, or the next consumer, settles it.
      asked = Math.min(asked, upTo - 1);
      while (!confirmations.isEmpty() && confirmations.element() <= upTo) {
        confirmations.remove();
        line.unsettled(this, message(failure));
      }
      if (!confirmations.isEmpty()) {
        settle();
      }
    }
  }

  private void confirm(long upTo) {
    while (!confirmations.isEmpty() && confirmations.element() <= upTo) {
      line.settled(this, confirmations.remove());
    }
  }

  /** Answers the settlements that wait when the consumer has ended: no others follow. */
  private void answerLeft(long upTo, @Nullable RecordResult result, @Nullable Throwable failure) {
    if (result instanceof RecordResult.CursorState) {
      confirm(upTo);
    }
    if (upTo < asked) {
      // The last one is under way.
      return;
    }
    while (!confirmations.isEmpty()) {
      confirmations.remove();
      line.unsettled(
          this,
          result instanceof RecordResult.Refused refused ? refused.message() : message(failure));
    }
  }

  // ---- The end

  @Override
  public void finish() {
    end();
    line.finished(this);
  }

  /** Ends: nothing more is sent, and the next consumer of the durable subscription is active. */
  @Override
  public void end() {
    if (phase() == Phase.ENDED) {
      return;
    }
    Phase before = phase();
    if (before == Phase.FEEDING && settled > asked) {
      asked = settled;
      // Before the next consumer begins.
      settleCursor(settled);
    }
    phase(Phase.ENDED);
    if (!settling) {
      answerLeft(asked, null, null);
    }
    ready.forEach(FeedPiece::release);
    ready.clear();
    journal.waiters(line.loop()).remove(this);
    all.looks().remove(look);
    if (before != Phase.BEGINNING && !wish().name().isEmpty()) {
      all.exclusive().leave(journal.number(), wish().name(), activate);
    }
    release();
  }
}
