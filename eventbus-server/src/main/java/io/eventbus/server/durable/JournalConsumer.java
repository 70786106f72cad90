package io.eventbus.server.durable;

import io.eventbus.base.RefusedMemory;
import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorStart;
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
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryAllocator;
import io.eventbus.server.delivery.DeliveryKind;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Consumer of a journal: how it begins, and what its connection is told. Its kinds differ in the
 * events that they get and how these are settled.
 *
 * <p>It waits for the credit of its client, for room of its connection and for the next event. Each
 * of them calls {@link #advance}. Confined to the loop of its connection.
 */
public abstract class JournalConsumer {
  /** Bytes of one read. */
  public static final int READ_BYTES = 256 << 10;

  /** Maximum number of settlements whose client waits for the answer. */
  public static final int MAX_CONFIRMATIONS = 256;

  static final long PAUSE_MILLIS = 100;
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  /** Longest head or end of a {@code Feed}: type, length of the body, and its numbers. */
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

    /** Called when a consumer that was to {@link #finish} has ended. */
    void finished(JournalConsumer consumer);

    /** Called when a settlement is stored whose client waits for the answer. */
    void settled(JournalConsumer consumer, long upTo);

    /** Called when it is not known whether a settlement is stored. */
    void unsettled(JournalConsumer consumer, String message);

    /** Ends the connection, because there is no memory for what comes next. */
    void failed();
  }

  /** Phase of the life of a consumer. */
  enum Phase {
    /** The client waits for the answer to its {@code Consume}. */
    BEGINNING,
    /** Accepted, and another one is active. */
    STANDING_BY,
    /** Active. */
    FEEDING,
    /** Sends no more, and waits until what was sent is settled. */
    FINISHING,
    /** Ended. */
    ENDED
  }

  final JournalConsumers all;
  final Journals journals;
  final ConsumedJournal journal;
  final Line line;
  final TailPieces tail;
  private final Wish wish;
  private volatile Phase phase = Phase.BEGINNING;
  private boolean opened;
  // Whether this bus has everything that was stored when the client asked.
  private boolean caughtUp;
  private boolean hasRoom;
  private long limit;
  private long sent;

  JournalConsumer(JournalConsumers all, JournalInfo info, Wish wish, Line line) {
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
  public final Wish wish() {
    return wish;
  }

  /** Returns the journal. */
  public final JournalInfo info() {
    return journal.info();
  }

  /** Returns whether the client waits for the answer to its {@code Consume}. */
  public final boolean isBeginning() {
    return phase == Phase.BEGINNING;
  }

  /** Returns whether the client may settle. */
  public final boolean isActive() {
    return phase == Phase.FEEDING || phase == Phase.FINISHING;
  }

  /** Returns whether it ends when what was sent is settled. */
  public final boolean isFinishing() {
    return phase == Phase.FINISHING;
  }

  /** Returns the heap that it takes beyond that of any consumer, about. */
  public long heapBytes() {
    return 0;
  }

  /** Returns the phase; any thread. */
  final Phase phase() {
    return phase;
  }

  final void phase(Phase next) {
    phase = next;
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

  final void unreadable() {
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
      begin(first);
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

  /** Begins at a position, for a consumer without a name. */
  abstract void begin(long first);

  /** Returns how the consumers of its durable subscription share the events. */
  abstract CursorMode mode();

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
                mode(),
                start,
                start == CursorStart.POSITION ? first : 1)
            .whenComplete((result, failure) -> line.execute(() -> created(result, failure)));
  }

  private void created(@Nullable RecordResult result, @Nullable Throwable failure) {
    if (phase == Phase.ENDED) {
      opened();
    } else if (result instanceof RecordResult.CursorState) {
      joinCursor();
    } else {
      refused(result, failure);
    }
  }

  /** Joins the others of its durable subscription, which is there. */
  abstract void joinCursor();

  /** Takes note that the journal has accepted it. */
  final void accepted(Phase next) {
    opened();
    phase = next;
    line.accepted(this);
  }

  static ErrorCode code(JournalRefusalReason reason) {
    return switch (reason) {
      case CURSOR_EXISTS -> ErrorCode.DUPLICATE_SUBSCRIPTION;
      case NO_POSITION -> ErrorCode.LIMIT_EXCEEDED;
      case STORE_FULL -> ErrorCode.STORE_FULL;
      case STALE_EPOCH -> ErrorCode.REPLACED;
      case NO_JOURNAL, NO_CURSOR -> ErrorCode.NO_JOURNAL;
      default -> throw new IllegalStateException("a cursor was refused with " + reason);
    };
  }

  static boolean isRetryable(JournalRefusalReason reason) {
    return reason == JournalRefusalReason.STORE_FULL;
  }

  static String message(@Nullable Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    return cause == null ? "no answer" : String.valueOf(cause.getMessage());
  }

  final void opened() {
    if (!opened) {
      opened = true;
      line.opened();
    }
  }

  /** Ends because of what the journal has answered. */
  final void refused(@Nullable RecordResult result, @Nullable Throwable failure) {
    if (result instanceof RecordResult.Refused refused) {
      refused(code(refused.reason()), refused.message(), isRetryable(refused.reason()));
    } else {
      refused(ErrorCode.UNAVAILABLE, message(failure), true);
    }
  }

  /** Ends because of a refusal. */
  final void refused(ErrorCode code, String message, boolean retryable) {
    opened();
    if (phase != Phase.ENDED) {
      end();
      line.ended(this, code, message, retryable);
    }
  }

  final String noJournal() {
    return "journal " + journal.info().name().name() + " is deleted (expected: one that is there)";
  }

  // ---- The events

  /** Raises the limit of the client; a smaller one than before changes nothing. */
  public final void grant(long bytes) {
    if (bytes > limit) {
      limit = bytes;
      advance();
    }
  }

  /** Returns whether the client accepts another frame. */
  final boolean hasCredit() {
    return sent < limit;
  }

  /** Returns how many bytes the client accepts; 0 or less for none. */
  final long credit() {
    return limit - sent;
  }

  /** Goes on as far as credit, room and events last. */
  public final void advance() {
    try {
      goOn();
    } catch (OutOfMemoryError e) {
      RefusedMemory.rethrowOthers(e);
      end();
      line.failed();
    }
  }

  abstract void goOn();

  /** Acquires room for one read; returns false if it has to wait, until {@link #advance}. */
  final boolean acquireRoom() {
    if (!hasRoom) {
      hasRoom = line.begin(this);
    }
    return hasRoom;
  }

  final void releaseRoom() {
    if (hasRoom) {
      hasRoom = false;
      line.end(this);
    }
  }

  /** Reads on, on a thread that may wait for the disk. */
  final void readOn(long position, long maxBytes) {
    if (phase == Phase.ENDED) {
      return;
    }
    try {
      ReadBatch batch = all.readers().read(journal.number(), wish.filter(), position, maxBytes);
      if (batch == null) {
        line.execute(() -> refused(ErrorCode.NO_JOURNAL, noJournal(), false));
      } else if (batch.to() < position) {
        readLater(position, maxBytes);
      } else {
        List<FeedPiece> pieces = FeedPieces.of(batch, all.allocator(), all.memory());
        line.execute(() -> wasRead(position, pieces));
      }
    } catch (JournalsUnavailableException e) {
      readLater(position, maxBytes);
    } catch (RuntimeException e) {
      unreadable();
      throw e;
    } catch (OutOfMemoryError e) {
      RefusedMemory.rethrowOthers(e);
      readLater(position, maxBytes);
    }
  }

  private void readLater(long position, long maxBytes) {
    all.reads().later(line.address(), () -> readOn(position, maxBytes), PAUSE_MILLIS);
  }

  /** Takes over what was read from a position on. */
  abstract void wasRead(long position, List<FeedPiece> pieces);

  /** Sends a {@code Feed} whose frames lie in buffers, from position to limit. */
  final void sendFeed(
      long from, long to, int attempt, int events, int bytes, List<ByteBuffer> frames) {
    long head = Math.max(to, journal.head());
    int size = DurableFrames.feedSize(wish.id(), from, to, head, bytes, attempt);
    Delivery frame = line.frames().allocate(DeliveryKind.FEED, size, 0, 0);
    frame.append(feedHead(from, to, head, bytes, attempt));
    frames.forEach(frame::append);
    frame.append(feedEnd(attempt));
    frame.finish();
    sent += size;
    line.send(frame, events);
  }

  /** Sends a {@code Feed} with all frames of a piece, or with none. */
  final void sendFeed(long from, long to, @Nullable FeedPiece piece) {
    Delivery events = piece == null ? null : piece.frames();
    int bytes = events == null ? 0 : events.frameBytes();
    long head = Math.max(to, journal.head());
    int size = DurableFrames.feedSize(wish.id(), from, to, head, bytes, 0);
    ByteBuffer start = feedHead(from, to, head, bytes, 0);
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
    line.send(frame, piece == null ? 0 : piece.events());
  }

  private ByteBuffer feedHead(long from, long to, long head, int bytes, int attempt) {
    ByteBuffer start = ByteBuffer.allocate(MAX_HEAD);
    DurableFrames.writeFeedHead(start, wish.id(), from, to, head, bytes, attempt);
    return start.flip();
  }

  private static ByteBuffer feedEnd(int attempt) {
    ByteBuffer end = ByteBuffer.allocate(MAX_HEAD);
    DurableFrames.writeAttempt(end, attempt);
    return end.flip();
  }

  /** Tells why the events of a range do not come. */
  final void sendTruncated(long from, long to, TruncatedReason hole) {
    byte[] bytes =
        ControlFrames.encode(TypeCode.TRUNCATED, new Truncated(wish.id(), from, to, hole));
    Delivery frame = line.frames().allocate(DeliveryKind.FEED, bytes.length, 0, 0);
    frame.append(ByteBuffer.wrap(bytes));
    frame.finish();
    line.send(frame, 0);
  }

  /**
   * Does what is due.
   *
   * @return whether there is nothing more to do
   */
  public abstract boolean tick();

  // ---- Settlements and the end

  /** Uses the durable subscription, so that the journal does not delete an idle one. */
  public abstract void keepCursor();

  /** Ends when what was sent is settled; {@link Line#finished} tells when, perhaps at once. */
  public abstract void finish();

  /** Ends: nothing more is sent. */
  public abstract void end();

  /**
   * Ends as {@link #end}.
   *
   * @param lost whether the connection was lost, so that nobody handles what was sent
   */
  public void end(boolean lost) {
    end();
  }

  /** Releases what each kind of consumer has. */
  final void release() {
    releaseRoom();
    tail.removeConsumer();
    all.release(journal);
  }
}
