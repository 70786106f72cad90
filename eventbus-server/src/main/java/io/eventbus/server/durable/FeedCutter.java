package io.eventbus.server.durable;

import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.Frames;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Walk over the events of {@code Deliver} frames that cuts out those of a range of positions, in
 * portions for one {@code Feed} each. Frames that lie whole in a portion are taken as they are, of
 * others a part is written. For one thread; valid while the frames are.
 */
final class FeedCutter {
  /** Maximum number of events of a portion. */
  static final int MAX_EVENTS = 64;

  /** Size above which a portion gets no further event. */
  static final int MAX_BYTES = 16 << 10;

  /** Size of the numbers in the head and the tail of a frame, about. */
  private static final int HEAD_BYTES = 64;

  /** Consecutive positions. */
  record Span(long from, long to) {}

  /**
   * Events for one {@code Feed}.
   *
   * @param spans their positions, ascending
   * @param events how many they are
   * @param bytes size of the frames
   * @param frames the frames, from position to limit
   */
  record Portion(List<Span> spans, int events, int bytes, List<ByteBuffer> frames) {
    long from() {
      return spans.get(0).from();
    }

    long to() {
      return spans.get(spans.size() - 1).to();
    }
  }

  private final ByteBuffer in;
  private final long from;
  private final long to;
  private final FrameCursor frame = new FrameCursor();
  private final DeliverView deliver = new DeliverView();
  private final EventCursor event = new EventCursor();
  private int frameStart;
  private int nextFrame;
  // Whether the cursor stands on an event of the range.
  private boolean stands;
  // The first position of the last part.
  private long partFrom;

  /**
   * Creates a walk.
   *
   * @param frames stored frames, back to back, from position to limit
   * @param from the first position that is wanted
   * @param to the last one
   */
  FeedCutter(ByteBuffer frames, long from, long to) {
    in = frames;
    this.from = from;
    this.to = to;
    nextFrame = frames.position();
    stands = openFrame() && skipToRange();
  }

  /** Opens the next frame; returns false if there is none. */
  private boolean openFrame() {
    frameStart = nextFrame;
    frame.wrap(in, frameStart, in.limit());
    if (!frame.next()) {
      return false;
    }
    nextFrame = frame.bodyEnd();
    deliver.readOneBlock(in, frame.bodyStart(), frame.bodyEnd());
    event.wrap(
        in, deliver.eventsStart(), deliver.eventsEnd(), FrameLimits.UNLIMITED, frame.bodyStart());
    return true;
  }

  /** Moves on to the first event of the range that follows; returns false if there is none. */
  private boolean skipToRange() {
    do {
      if (deliver.offset() + deliver.eventCount() > from) {
        while (event.next()) {
          if (position() > to) {
            return false;
          }
          if (position() >= from) {
            return true;
          }
        }
      }
    } while (openFrame());
    return false;
  }

  private long position() {
    return deliver.offset() + event.index();
  }

  /**
   * Returns the next events, at least one; null if there are no more.
   *
   * @param max how many at most, 1 or more
   */
  @Nullable Portion next(int max) {
    if (!stands) {
      return null;
    }
    List<Span> spans = new ArrayList<>(1);
    List<ByteBuffer> frames = new ArrayList<>(1);
    int events = 0;
    int bytes = 0;
    while (stands && events < max && (events == 0 || bytes + sizeOfNext() <= MAX_BYTES)) {
      ByteBuffer part = part(max - events, MAX_BYTES - bytes, spans);
      Span last = spans.get(spans.size() - 1);
      events += (int) (last.to() - partFrom + 1);
      bytes += part.remaining();
      frames.add(part);
    }
    return new Portion(spans, events, bytes, frames);
  }

  private int sizeOfNext() {
    return deliver.topicLength() + HEAD_BYTES + event.eventEnd() - event.eventStart();
  }

  /** Takes the events of one frame, and adds their positions. */
  private ByteBuffer part(int max, int room, List<Span> spans) {
    int index = event.index();
    int start = event.eventStart();
    int end = event.eventEnd();
    int count = 1;
    int head = deliver.topicLength() + HEAD_BYTES;
    partFrom = position();
    long last = partFrom;
    boolean more = event.next();
    while (more && count < max && position() <= to && head + event.eventEnd() - start <= room) {
      end = event.eventEnd();
      last = position();
      count++;
      more = event.next();
    }
    int before = spans.size() - 1;
    if (before >= 0 && spans.get(before).to() == partFrom - 1) {
      spans.set(before, new Span(spans.get(before).from(), last));
    } else {
      spans.add(new Span(partFrom, last));
    }
    ByteBuffer part;
    if (count == deliver.eventCount()) {
      part = in.duplicate().limit(nextFrame).position(frameStart);
    } else {
      part = ByteBuffer.allocate(Frames.partialDeliverSize(deliver, index, count, end - start));
      Frames.writePartialDeliver(part, in, deliver, index, count, start, end - start);
      part.flip();
    }
    stands = more ? position() <= to : openFrame() && skipToRange();
    return part;
  }
}
