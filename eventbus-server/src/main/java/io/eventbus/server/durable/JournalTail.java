package io.eventbus.server.durable;

import io.eventbus.journal.AppliedChanges.AppliedChunk;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.ReadBatch;
import io.eventbus.journal.ReadPart;
import io.eventbus.journal.StoredEventReader;
import io.eventbus.journal.chunk.ChunkFormatException;
import io.eventbus.journal.chunk.ChunkView;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.server.routing.PublisherStall;
import io.eventbus.server.routing.Router;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * End of one journal on its way to the subscribers of this bus: what is applied is delivered in the
 * order of its positions, on one loop.
 *
 * <p>A full subscriber under BLOCK stalls the journal's feed as it stalls a publisher elsewhere: it
 * is charged, and stalls nobody any longer when its time is used up. It never holds up those who
 * publish to the journal: chunks for which the feed has no room are read from the journal later. A
 * full link to a member of a group at another bus stalls it, too, and is charged to no client here.
 */
final class JournalTail {
  private static final Logger LOG = LoggerFactory.getLogger(JournalTail.class);

  /** Duration of one turn on the loop. */
  private static final long TURN_NANOS = 1_000_000;

  private static final long READ_BYTES = 1 << 20;
  private static final long PAUSE_MILLIS = 100;

  /** Pause after a read that failed as it should not: each failure is logged. */
  private static final long FAILED_PAUSE_MILLIS = 10_000;

  /** Applied chunk, and the time of the shard then. */
  private record Chunk(AppliedChunk applied, long stamp) {
    int bytes() {
      return applied.bytes().remaining();
    }
  }

  private final int journal;
  private final String account;
  private final JournalFeed feed;
  private final Router router;
  private final StoredEventReader reader;
  private final Queue<Chunk> tail = new ConcurrentLinkedQueue<>();
  private final LedPositions positions = new LedPositions();
  private final AtomicLong missedTo = new AtomicLong();
  private volatile long end;
  private final AtomicBoolean scheduled = new AtomicBoolean();
  private final Runnable turn = this::turn;
  private final Runnable retry = this::resume;

  // On the thread that applies entries:
  private boolean groupsLost;

  // On the loop:
  private final ChunkView view = new ChunkView();
  private final FrameCursor frames = new FrameCursor();
  private final DeliverView deliver = new DeliverView();
  // Written there, read by any thread.
  private volatile long next;
  private boolean walking;
  private long now;
  private @Nullable Iterator<ReadPart> read;
  private long readTo;
  private @Nullable ByteBuffer frame;
  private final PublisherStall stall = new PublisherStall();
  private boolean waiting;
  private boolean charging;
  private boolean reading;

  /**
   * Creates the end of a journal.
   *
   * @param next the first position that is delivered
   */
  JournalTail(
      int journal,
      String account,
      long next,
      JournalFeed feed,
      Router router,
      StoredEventReader reader) {
    this.journal = journal;
    this.account = account;
    this.next = next;
    this.end = next - 1;
    this.feed = feed;
    this.router = router;
    this.reader = reader;
  }

  /**
   * Adds a chunk, on the thread that applies entries.
   *
   * @param leads whether this bus chooses the members of groups for its events
   */
  void add(AppliedChunk applied, long stamp, boolean leads) {
    boolean lost = !positions.add(applied.to(), leads);
    if (lost && !groupsLost) {
      LOG.error(
          "journal {}: events from position {} on are not given to groups, as its subscribers are"
              + " behind (expected: at most {} changes of the leader)",
          journal,
          applied.from(),
          LedPositions.MAX_RANGES);
    }
    groupsLost = lost;
    Chunk chunk = new Chunk(applied, stamp);
    if (feed.reserve(chunk.bytes())) {
      tail.add(chunk);
    } else {
      missedTo.accumulateAndGet(applied.to(), Math::max);
    }
    end = Math.max(end, applied.to());
    schedule();
  }

  /** Returns the last position that was added; any thread. */
  long end() {
    return end;
  }

  /** Returns whether everything up to a position is delivered; any thread. */
  boolean hasDelivered(long position) {
    return next > position;
  }

  private void schedule() {
    if (scheduled.compareAndSet(false, true)) {
      execute(turn);
    }
  }

  private void execute(Runnable task) {
    try {
      feed.executor(router.loop()).execute(task);
    } catch (RejectedExecutionException e) {
      // The bus has ended.
    }
  }

  private void turn() {
    scheduled.set(false);
    long end = System.nanoTime() + TURN_NANOS;
    while (!waiting && !reading && step()) {
      if (System.nanoTime() - end >= 0) {
        schedule();
        return;
      }
    }
  }

  /** Does a little; returns false if there is nothing to do now. */
  private boolean step() {
    if (frame != null) {
      return deliver();
    }
    if (read != null) {
      return nextRead(read);
    }
    if (walking) {
      return nextOfChunk();
    }
    Chunk chunk = tail.peek();
    if (chunk != null && chunk.applied.from() <= next) {
      tail.remove();
      feed.release(chunk.bytes());
      open(chunk);
      return true;
    }
    if (chunk == null && missedTo.get() < next) {
      return false;
    }
    reading = true;
    feed.later(this::readOn, 0);
    return false;
  }

  private void open(Chunk chunk) {
    if (chunk.applied.to() < next) {
      // Known: written anew after a purge, or applied again.
      return;
    }
    try {
      view.read(chunk.applied.bytes().duplicate(), journal, chunk.applied.from());
      now = chunk.stamp;
      walking = true;
    } catch (ChunkFormatException e) {
      LOG.error("events of journal {} are not delivered: {}", journal, e.getMessage());
      next = chunk.applied.to() + 1;
    }
  }

  private boolean nextOfChunk() {
    if (!view.next()) {
      walking = false;
      next = view.lastPosition() + 1;
      return true;
    }
    boolean expired = view.expiry() != 0 && view.expiry() <= now;
    if (view.position() + view.events() > next && !expired) {
      frame = view.frame();
    }
    return true;
  }

  private boolean nextRead(Iterator<ReadPart> parts) {
    ReadPart part = parts.hasNext() ? parts.next() : null;
    if (part == null || part.position() > readTo) {
      read = null;
      next = readTo + 1;
      return true;
    }
    if (part.position() + part.events() > next) {
      frame = part.frame();
    }
    return true;
  }

  private boolean deliver() {
    ByteBuffer in = frame;
    if (in == null) {
      throw new IllegalStateException("no frame");
    }
    frames.wrap(in, in.position(), in.limit());
    if (!frames.next()) {
      throw new IllegalStateException("an empty frame in a chunk");
    }
    deliver.readOneBlock(in, frames.bodyStart(), frames.bodyEnd());
    String problem = router.select(account, in, deliver);
    if (problem != null) {
      throw new IllegalStateException(problem);
    }
    boolean groups = positions.isLed(deliver.offset());
    if (router.storedMustWait(groups, deliver.producer(), retry)) {
      waiting = true;
      router.storedStalled(stall, groups);
      if (!charging) {
        charging = true;
        feed.later(this::charge, PAUSE_MILLIS);
      }
      return false;
    }
    router.deliverStored(in, in.position(), frames.bodyEnd(), deliver, groups, System.nanoTime());
    router.published(stall);
    frame = null;
    return true;
  }

  private void resume() {
    execute(
        () -> {
          waiting = false;
          turn();
        });
  }

  /** Charges the subscribers that stall the feed, as long as they do. */
  private void charge() {
    execute(
        () -> {
          charging = waiting;
          if (waiting) {
            router.chargeStall(stall, System.nanoTime());
            feed.later(this::charge, PAUSE_MILLIS);
          }
        });
  }

  /** Reads what the tail has missed, on a thread for that. */
  private void readOn() {
    long from = next;
    try {
      ReadBatch batch = reader.read(from, READ_BYTES);
      if (batch == null) {
        execute(this::gone);
      } else if (batch.to() < from) {
        feed.later(this::readOn, PAUSE_MILLIS);
      } else {
        execute(() -> take(batch));
      }
    } catch (JournalsUnavailableException e) {
      feed.later(this::readOn, PAUSE_MILLIS);
    } catch (RuntimeException e) {
      LOG.error("journal {} cannot be read for subscribers, next try follows", journal, e);
      feed.later(this::readOn, FAILED_PAUSE_MILLIS);
    }
  }

  private void take(ReadBatch batch) {
    // Behind it the bus that chooses the members of groups is not known yet.
    readTo = Math.min(batch.to(), positions.end());
    read = batch.parts().iterator();
    reading = false;
    turn();
  }

  /** Drops what is left of a journal that was deleted. */
  private void gone() {
    for (Chunk chunk = tail.poll(); chunk != null; chunk = tail.poll()) {
      feed.release(chunk.bytes());
      next = Math.max(next, chunk.applied.to() + 1);
    }
    next = Math.max(next, missedTo.get() + 1);
    reading = false;
  }
}
