package io.eventbus.server.durable;

import io.eventbus.base.RefusedMemory;
import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorStart;
import io.eventbus.journal.CursorView;
import io.eventbus.journal.JournalFigures;
import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.Journals;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.ReadBatch;
import io.eventbus.journal.RecordResult;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.DurableFrames;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ConsumeStart;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Truncated;
import io.eventbus.schema.TruncatedReason;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryAllocator;
import io.eventbus.server.delivery.DeliveryKind;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Consumer of a journal: it begins, stands by until it is active and its bus has the cursor, gets
 * the events from its position on, and settles them. What it gets next comes from the chunks that
 * were applied lately or, if it is behind them, from the disk; positions say where it goes on, so
 * that both join without a hole.
 *
 * <p>It waits for three things: the credit of its client, room of its connection, the next event.
 * Each of them calls {@link #advance}. Confined to the loop of its connection.
 */
public final class JournalConsumer {
  /** Bytes of one read. */
  public static final int READ_BYTES = 256 << 10;

  /** Maximum number of settlements whose client waits for the answer. */
  public static final int MAX_CONFIRMATIONS = 256;

  /** Maximum time between two frames while the journal grows. */
  private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final long PAUSE_MILLIS = 100;
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  /** Longest head of a {@code Feed}: type, length of the body, and its numbers. */
  private static final int MAX_HEAD = 64;

  /**
   * Wish of a client.
   *
   * @param id the client's number of the consumer
   * @param name of the durable subscription; empty for none
   * @param from position, or time in microseconds, by {@code start}
   * @param limit bytes of {@code Feed} frames that the client accepts at first
   */
  public record Wish(
      long id, TopicFilter filter, String name, ConsumeStart start, long from, long limit) {}

  /** Connection of a consumer. Confined to its loop except for {@link #execute}. */
  public interface Line {
    /** Returns the number of its loop. */
    int loop();

    /** Returns the number of the connection at this bus. */
    long connection();

    /** Returns the object that the clients sharing turns have in common. */
    Object address();

    /** Runs a task on the loop; any thread. Perhaps after the end of the connection. */
    void execute(Runnable task);

    /** Returns an allocator of small frames. */
    DeliveryAllocator frames();

    /**
     * Acquires room for one read, until {@link #end}. Returns false if there is none; then it calls
     * {@link #advance} when there may be some.
     */
    boolean begin(JournalConsumer consumer);

    /** Releases the room: what was read is sent or dropped. */
    void end(JournalConsumer consumer);

    /** Sends a frame behind those sent before, with so many events; takes over the reference. */
    void send(Delivery frame, int events);

    /** Asks for a call of {@link #tick} several times a second. */
    void tickSoon(JournalConsumer consumer);

    /** Called once when the beginning is over, whatever came of it. */
    void opened();

    /** Called when the journal has accepted the consumer. */
    void accepted(JournalConsumer consumer);

    /** Called when the consumer ends by itself. */
    void ended(JournalConsumer consumer, ErrorCode code, String message, boolean retryable);

    /** Called when a settlement is stored whose client waits for the answer. */
    void settled(JournalConsumer consumer, long upTo);

    /** Called when it is not known whether a settlement is stored. */
    void unsettled(JournalConsumer consumer, String message);

    /** Ends the connection, because there is no memory for what comes next. */
    void failed();
  }

  private enum Phase {
    BEGINNING,
    STANDING_BY,
    FEEDING,
    ENDED
  }

  private final JournalConsumers all;
  private final Journals journals;
  private final ConsumedJournal journal;
  private final Wish wish;
  private final Line line;
  private final TailPieces tail;
  private final Runnable activate = this::activate;
  private final Runnable look = this::lookAtCursor;
  private final Queue<FeedPiece> ready = new ArrayDeque<>(0);
  private volatile Phase phase = Phase.BEGINNING;
  private boolean opened;
  // Whether this bus has everything that was stored when the client asked.
  private boolean caughtUp;
  private boolean reading;
  private boolean hasRoom;
  private long limit;
  private long sent;
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
  public JournalConsumer(JournalConsumers all, JournalInfo info, Wish wish, Line line) {
    this.all = all;
    this.journals = all.journals();
    this.journal = all.acquire(info);
    this.wish = wish;
    this.line = line;
    this.limit = wish.limit();
    this.tail = all.tail(line.loop());
    tail.addConsumer();
  }

  /** Returns what the client wants. */
  public Wish wish() {
    return wish;
  }

  /** Returns the journal. */
  public JournalInfo info() {
    return journal.info();
  }

  /** Returns whether the client waits for the answer to its {@code Consume}. */
  public boolean isBeginning() {
    return phase == Phase.BEGINNING;
  }

  // ---- The beginning

  /** Begins: what is new is that which no bus had when the client asked. */
  public void start() {
    if (wish.start() == ConsumeStart.NEW && wish.name().isEmpty()) {
      catchUp();
    } else {
      lookSoon();
    }
  }

  private void lookSoon() {
    all.reads().add(line.address(), this::look);
  }

  /** Looks where it begins, on a thread that may wait for the disk. */
  private void look() {
    try {
      JournalFigures figures = journals.figures(journal.number());
      if (figures == null) {
        line.execute(() -> refused(ErrorCode.NO_JOURNAL, noJournal(), false));
        return;
      }
      journal.reached(figures.lastPosition());
      long first = first(figures);
      line.execute(() -> looked(first, figures.lastPosition()));
    } catch (JournalsUnavailableException e) {
      line.execute(() -> refused(ErrorCode.UNAVAILABLE, String.valueOf(e.getMessage()), true));
    } catch (RuntimeException e) {
      unreadable();
      throw e;
    }
  }

  private void unreadable() {
    line.execute(() -> refused(ErrorCode.UNAVAILABLE, "the journal cannot be read", true));
  }

  private long first(JournalFigures figures) {
    return switch (wish.start()) {
      case FIRST, LATEST_VALUES -> figures.firstPosition();
      case NEW -> figures.lastPosition() + 1;
      case POSITION -> Math.max(1, wish.from());
      case TIME -> Math.max(1, journals.positionAt(journal.number(), wish.from() / 1000));
      case UNKNOWN -> throw new IllegalStateException("a start that is not known");
    };
  }

  private void looked(long first, long last) {
    if (phase == Phase.ENDED) {
      opened();
    } else if (!wish.name().isEmpty()) {
      createCursor(first);
    } else if (first <= last + 1) {
      opened();
      phase = Phase.STANDING_BY;
      line.accepted(this);
      feedFrom(first);
    } else if (caughtUp) {
      refused(ErrorCode.LIMIT_EXCEEDED, beyond(first, last + 1), false);
    } else {
      catchUp();
    }
  }

  /** Looks again when this bus has what others had: one of them may have told the position. */
  private void catchUp() {
    var unused =
        journals
            .appliedUpToNow()
            .whenComplete((nothing, failure) -> line.execute(() -> caughtUp(failure)));
  }

  private void caughtUp(@Nullable Throwable failure) {
    if (failure != null) {
      refused(ErrorCode.UNAVAILABLE, message(failure), true);
      return;
    }
    caughtUp = true;
    lookSoon();
  }

  private static String beyond(long from, long max) {
    return "from: " + from + " is beyond the end of the journal (expected: at most " + max + ")";
  }

  private void createCursor(long first) {
    CursorStart start =
        switch (wish.start()) {
          case FIRST, LATEST_VALUES -> CursorStart.FIRST;
          case NEW -> CursorStart.NEW;
          case POSITION, TIME -> CursorStart.POSITION;
          case UNKNOWN -> throw new IllegalStateException("a start that is not known");
        };
    var unused =
        journals
            .createCursor(
                journal.number(),
                wish.name(),
                wish.filter(),
                CursorMode.EXCLUSIVE,
                start,
                start == CursorStart.POSITION ? first : 1)
            .whenComplete((result, failure) -> line.execute(() -> created(result, failure)));
  }

  private void created(@Nullable RecordResult result, @Nullable Throwable failure) {
    if (phase == Phase.ENDED) {
      opened();
    } else if (result instanceof RecordResult.CursorState) {
      opened();
      phase = Phase.STANDING_BY;
      line.accepted(this);
      if (phase == Phase.STANDING_BY) {
        all.exclusive().join(journal.number(), wish.name(), activate);
      }
    } else if (result instanceof RecordResult.Refused refused) {
      refused(code(refused.reason()), refused.message(), isRetryable(refused.reason()));
    } else {
      refused(ErrorCode.UNAVAILABLE, message(failure), true);
    }
  }

  private static ErrorCode code(JournalRefusalReason reason) {
    return switch (reason) {
      case CURSOR_EXISTS -> ErrorCode.DUPLICATE_SUBSCRIPTION;
      case NO_POSITION -> ErrorCode.LIMIT_EXCEEDED;
      case STORE_FULL -> ErrorCode.STORE_FULL;
      case STALE_EPOCH -> ErrorCode.REPLACED;
      case NO_JOURNAL, NO_CURSOR -> ErrorCode.NO_JOURNAL;
      default -> throw new IllegalStateException("a cursor was refused with " + reason);
    };
  }

  private static boolean isRetryable(JournalRefusalReason reason) {
    return reason == JournalRefusalReason.STORE_FULL;
  }

  private static String message(@Nullable Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    return cause == null ? "no answer" : String.valueOf(cause.getMessage());
  }

  private void opened() {
    if (!opened) {
      opened = true;
      line.opened();
    }
  }

  /** Ends because of a refusal. */
  private void refused(ErrorCode code, String message, boolean retryable) {
    opened();
    if (phase != Phase.ENDED) {
      end();
      line.ended(this, code, message, retryable);
    }
  }

  private String noJournal() {
    return "journal " + journal.info().name().name() + " is deleted (expected: one that is there)";
  }

  /** Called by any thread when all consumers before this one have left. */
  private void activate() {
    line.execute(() -> attach(0));
  }

  private void attach(long replaces) {
    if (phase != Phase.STANDING_BY) {
      return;
    }
    var unused =
        all.exclusive()
            .attach(journal.number(), wish.name(), replaces)
            .whenComplete((result, failure) -> line.execute(() -> attached(result, failure)));
  }

  private void attached(@Nullable RecordResult result, @Nullable Throwable failure) {
    if (phase != Phase.STANDING_BY) {
      return;
    }
    if (result instanceof RecordResult.CursorState cursor) {
      epoch = cursor.epoch();
      asked = cursor.floor();
      JournalName name = journal.info().name();
      all.advisories()
          .accept(
              new Advisory.ConsumerChanged(
                  name.account(), name.name(), wish.name(), line.connection(), epoch));
      feedFrom(cursor.floor() + 1);
    } else if (result instanceof RecordResult.Refused refused
        && refused.reason() == JournalRefusalReason.CURSOR_TAKEN) {
      if (taken) {
        lookLater();
      } else {
        taken = true;
        all.reads().add(line.address(), look);
      }
    } else if (result instanceof RecordResult.Refused refused) {
      refused(code(refused.reason()), refused.message(), isRetryable(refused.reason()));
    } else {
      refused(ErrorCode.UNAVAILABLE, message(failure), true);
    }
  }

  /** Looks whether the cursor is free, on a thread that may wait for the disk. */
  private void lookAtCursor() {
    if (phase == Phase.ENDED) {
      return;
    }
    CursorView cursor;
    try {
      cursor = journals.cursor(journal.number(), wish.name());
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
    if (phase == Phase.ENDED) {
      all.looks().remove(look);
    }
  }

  // ---- The events

  private void feedFrom(long position) {
    if (phase != Phase.STANDING_BY) {
      return;
    }
    phase = Phase.FEEDING;
    next = position;
    told = position - 1;
    advance();
  }

  /** Raises the limit of the client; a smaller one than before changes nothing. */
  public void grant(long bytes) {
    if (bytes > limit) {
      limit = bytes;
      advance();
    }
  }

  /** Goes on as far as credit, room and events last. */
  public void advance() {
    try {
      goOn();
    } catch (OutOfMemoryError e) {
      RefusedMemory.rethrowOthers(e);
      end();
      line.failed();
    }
  }

  private void goOn() {
    if (!ready.isEmpty()) {
      sendReady();
    }
    while (phase == Phase.FEEDING && !reading && sent < limit) {
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
      } else if (!hasRoom && !line.begin(this)) {
        return;
      } else {
        hasRoom = true;
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
    List<FeedPiece> pieces = tail.find(journal, next, wish.filter(), all.stamp());
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
    all.reads().add(line.address(), () -> readOn(position));
  }

  /** Reads on, on a thread that may wait for the disk. */
  private void readOn(long position) {
    if (phase == Phase.ENDED) {
      return;
    }
    try {
      ReadBatch batch = all.readers().read(journal.number(), wish.filter(), position, READ_BYTES);
      if (batch == null) {
        line.execute(() -> refused(ErrorCode.NO_JOURNAL, noJournal(), false));
      } else if (batch.to() < position) {
        readLater(position);
      } else {
        List<FeedPiece> pieces = FeedPieces.of(batch, all.allocator(), all.memory());
        line.execute(() -> wasRead(pieces));
      }
    } catch (JournalsUnavailableException e) {
      readLater(position);
    } catch (RuntimeException e) {
      unreadable();
      throw e;
    } catch (OutOfMemoryError e) {
      RefusedMemory.rethrowOthers(e);
      readLater(position);
    }
  }

  private void readLater(long position) {
    all.reads().later(line.address(), () -> readOn(position), PAUSE_MILLIS);
  }

  private void wasRead(List<FeedPiece> pieces) {
    if (phase == Phase.ENDED) {
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
        if (piece.to() >= next && sent < limit) {
          send(piece);
          next = piece.to() + 1;
        }
      } finally {
        piece.release();
      }
    }
    releaseRoom();
  }

  private void releaseRoom() {
    if (hasRoom) {
      hasRoom = false;
      line.end(this);
    }
  }

  private void send(FeedPiece piece) {
    TruncatedReason hole = piece.hole();
    if (hole != null) {
      if (told < piece.from() - 1) {
        feed(piece.from() - 1, null);
      }
      line.send(
          frame(
              ControlFrames.encode(
                  TypeCode.TRUNCATED, new Truncated(wish.id(), told + 1, piece.to(), hole))),
          0);
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

  /**
   * Tells how far it has come without an event, if that is due.
   *
   * @return whether there is nothing more to tell
   */
  public boolean tick() {
    if (phase == Phase.FEEDING && told < next - 1 && sent < limit) {
      if (all.nanoTime() - toldAt < QUIET_NANOS) {
        return false;
      }
      feed(next - 1, null);
    }
    return true;
  }

  /** Sends a {@code Feed} that covers everything up to a position. */
  private void feed(long to, @Nullable FeedPiece piece) {
    Delivery events = piece == null ? null : piece.frames();
    int bytes = events == null ? 0 : events.frameBytes();
    long from = told + 1;
    long head = Math.max(to, journal.head());
    int size = DurableFrames.feedSize(wish.id(), from, to, head, bytes, 0);
    ByteBuffer start = ByteBuffer.allocate(MAX_HEAD);
    DurableFrames.writeFeedHead(start, wish.id(), from, to, head, bytes, 0);
    start.flip();
    Delivery frame;
    if (events != null && DeliveryAllocator.isShared(bytes)) {
      frame = line.frames().around(events, 0, bytes, start, NOTHING.duplicate());
    } else {
      frame = line.frames().allocate(DeliveryKind.FEED, size, 0, 0);
      frame.append(start);
      if (events != null) {
        frame.append(events, 0, bytes);
      }
      frame.finish();
    }
    sent += size;
    told(to);
    line.send(frame, piece == null ? 0 : piece.events());
  }

  private Delivery frame(byte[] bytes) {
    Delivery frame = line.frames().allocate(DeliveryKind.FEED, bytes.length, 0, 0);
    frame.append(ByteBuffer.wrap(bytes));
    frame.finish();
    return frame;
  }

  private void told(long to) {
    told = to;
    toldAt = all.nanoTime();
  }

  // ---- Settlements

  /** Returns whether the client may settle: the consumer is active. */
  public boolean isFeeding() {
    return phase == Phase.FEEDING;
  }

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
    if (phase != Phase.FEEDING || settling) {
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

  /** Settles what is settled again, so that the journal does not delete an idle cursor. */
  public void keepCursor() {
    if (phase == Phase.FEEDING && !wish.name().isEmpty() && !settling) {
      settleCursor(asked);
    }
  }

  private void settleCursor(long upTo) {
    settling = true;
    var unused =
        journals
            .settleCursor(journal.number(), wish.name(), epoch, upTo)
            .whenComplete((result, failure) -> line.execute(() -> settled(upTo, result, failure)));
  }

  private void settled(long upTo, @Nullable RecordResult result, @Nullable Throwable failure) {
    settling = false;
    if (phase == Phase.ENDED) {
      answerLeft(upTo, result, failure);
    } else if (result instanceof RecordResult.CursorState) {
      confirm(upTo);
      settle();
    } else if (result instanceof RecordResult.Refused refused) {
      refused(code(refused.reason()), refused.message(), isRetryable(refused.reason()));
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

  /** Ends: nothing more is sent, and the next consumer of the durable subscription is active. */
  public void end() {
    if (phase == Phase.ENDED) {
      return;
    }
    Phase before = phase;
    if (before == Phase.FEEDING && settled > asked) {
      asked = settled;
      // Before the next consumer begins.
      settleCursor(settled);
    }
    phase = Phase.ENDED;
    if (!settling) {
      answerLeft(asked, null, null);
    }
    ready.forEach(FeedPiece::release);
    ready.clear();
    releaseRoom();
    journal.waiters(line.loop()).remove(this);
    all.looks().remove(look);
    if (before != Phase.BEGINNING && !wish.name().isEmpty()) {
      all.exclusive().leave(journal.number(), wish.name(), activate);
    }
    tail.removeConsumer();
    all.release(journal);
  }
}
