package io.eventbus.server.durable;

import io.eventbus.journal.ReadBatch;
import io.eventbus.journal.ReadHole;
import io.eventbus.journal.ReadPart;
import io.eventbus.journal.chunk.ChunkFormatException;
import io.eventbus.journal.chunk.ChunkView;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.TruncatedReason;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.memory.BusMemory;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Builder of the pieces of one range: the frames between two holes are copied together. For one
 * thread and one range.
 */
final class FeedPieces {
  private static final String ALL = ">";

  private final ByteBufAllocator allocator;
  private final BusMemory memory;
  private final List<FeedPiece> pieces = new ArrayList<>(1);
  private final List<ByteBuffer> frames = new ArrayList<>();
  private long next;
  private int bytes;
  private int events;

  private FeedPieces(ByteBufAllocator allocator, BusMemory memory, long from) {
    this.allocator = allocator;
    this.memory = memory;
    this.next = from;
  }

  /** Returns what was read; the caller owns the pieces. */
  static List<FeedPiece> of(ReadBatch batch, ByteBufAllocator allocator, BusMemory memory) {
    FeedPieces built = new FeedPieces(allocator, memory, batch.from());
    return built.orReleased(() -> built.add(batch));
  }

  /**
   * Returns what a filter selects of a chunk, whether or not it has expired; the caller owns the
   * pieces.
   *
   * @throws ChunkFormatException if the chunk is damaged
   */
  static List<FeedPiece> of(
      TailChunk chunk,
      int journal,
      TopicFilter filter,
      ByteBufAllocator allocator,
      BusMemory memory)
      throws ChunkFormatException {
    ChunkView view = new ChunkView();
    view.read(chunk.bytes(), journal, chunk.from());
    FeedPieces built = new FeedPieces(allocator, memory, chunk.covers());
    return built.orReleased(() -> built.add(view, filter));
  }

  /**
   * Returns the time of the shard in milliseconds from which on an event of a chunk has expired.
   *
   * @throws ChunkFormatException if the chunk is damaged
   */
  static long expiry(TailChunk chunk, int journal) throws ChunkFormatException {
    ChunkView view = new ChunkView();
    view.read(chunk.bytes(), journal, chunk.from());
    long first = Long.MAX_VALUE;
    while (view.next()) {
      if (view.expiry() != 0) {
        first = Math.min(first, view.expiry());
      }
    }
    return first;
  }

  private List<FeedPiece> orReleased(Runnable build) {
    boolean done = false;
    try {
      build.run();
      done = true;
      return pieces;
    } finally {
      if (!done) {
        pieces.forEach(FeedPiece::release);
      }
    }
  }

  private void add(ReadBatch batch) {
    int holes = 0;
    for (ReadPart part : batch.parts()) {
      while (holes < batch.holes().size() && batch.holes().get(holes).from() < part.position()) {
        add(batch.holes().get(holes++));
      }
      add(part.frame(), part.events());
    }
    while (holes < batch.holes().size()) {
      add(batch.holes().get(holes++));
    }
    end(batch.to());
  }

  private void add(ReadHole hole) {
    add(
        switch (hole.reason()) {
          case TRIMMED -> TruncatedReason.RETENTION;
          case PURGED -> TruncatedReason.PURGED;
          case EXPIRED -> TruncatedReason.EXPIRED;
          case DAMAGED -> TruncatedReason.DAMAGED;
        },
        hole.from(),
        hole.to());
  }

  private void add(ChunkView view, TopicFilter filter) {
    boolean all = filter.toString().equals(ALL);
    FrameCursor cursor = new FrameCursor();
    DeliverView deliver = new DeliverView();
    long expected = view.firstPosition();
    while (view.next()) {
      if (view.position() > expected) {
        add(TruncatedReason.PURGED, expected, view.position() - 1);
      }
      expected = view.position() + view.events();
      ByteBuffer frame = view.frame();
      if (!all) {
        cursor.wrap(frame, frame.position(), frame.limit());
        if (!cursor.next()) {
          throw new IllegalStateException("an empty frame in a chunk");
        }
        deliver.readOneBlock(frame, cursor.bodyStart(), cursor.bodyEnd());
        if (!filter.matches(deliver.topic())) {
          continue;
        }
      }
      add(frame, view.events());
    }
    if (expected <= view.lastPosition()) {
      add(TruncatedReason.PURGED, expected, view.lastPosition());
    }
    end(view.lastPosition());
  }

  private void add(ByteBuffer frame, int count) {
    frames.add(frame);
    bytes += frame.remaining();
    events += count;
  }

  private void add(TruncatedReason reason, long from, long to) {
    end(from - 1);
    int last = pieces.size() - 1;
    FeedPiece before = last < 0 ? null : pieces.get(last);
    if (before != null && before.hole() == reason) {
      pieces.set(last, new FeedPiece(before.from(), to, reason, null, 0));
    } else {
      pieces.add(new FeedPiece(next, to, reason, null, 0));
    }
    next = to + 1;
  }

  /** Ends a range of events, of which there may be none. */
  private void end(long to) {
    if (to < next) {
      return;
    }
    Delivery together = null;
    if (!frames.isEmpty()) {
      together = Delivery.allocate(allocator, memory, DeliveryKind.FEED, bytes, 0, 0);
      frames.forEach(together::append);
      together.finish();
    }
    pieces.add(new FeedPiece(next, to, null, together, events));
    frames.clear();
    bytes = 0;
    events = 0;
    next = to + 1;
  }
}
