package io.eventbus.client.internal.outbound;

import io.eventbus.client.Published;
import io.eventbus.client.internal.call.Body;
import io.eventbus.protocol.EncodedHeaders;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.Frames;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Message that is being filled: events are encoded straight into it. Guarded by the {@link
 * Outbox}'s lock.
 *
 * <p>Consecutive events of one topic and schema make one frame, a run. The head of a frame contains
 * its length, which is known only at its end: so room for the head is left at the start of a run,
 * exactly as much as a single event needs. When a second event comes, the first is moved to leave
 * room for the head of a long run; when the guess was wrong, the run is moved once more when it
 * ends. Both cost a copy within the cache.
 */
public final class OpenBatch {
  /** Bytes by which a head may outgrow the guess. */
  private static final int SLACK = 16;

  private static final int LONG_RUN_EVENTS = 512;
  private static final int LONG_RUN_BYTES = 40_000;

  /** Bytes that an event with a stage takes in memory beside its own. */
  static final int STAGE_COST = 128;

  final long number;
  private final byte[] array;
  private final ByteBuffer out;
  private final List<PublishFrame> frames = new ArrayList<>();
  private int plainEvents;
  private long plainCost;

  private @Nullable TopicState topic;
  private long schema;
  private long firstSequence;
  private int runStart;
  private int eventsStart;
  private int runEvents;
  private long runCost;
  private @Nullable PublishFrame runFrame;
  // An event with one is alone in its frame.
  private @Nullable DurableWish runWish;

  /**
   * Creates an empty message.
   *
   * @param number counts messages in the order in which they are sent; 0 for those that are not the
   *     first with their events
   */
  OpenBatch(byte[] array, long number) {
    this.array = array;
    this.number = number;
    out = ByteBuffer.wrap(array);
  }

  /** Returns the capacity that is enough for an event alone in a message. */
  static int capacityFor(int topicBytes, int eventBytes) {
    return Frames.publishSize(
            topicBytes, Long.MAX_VALUE, Long.MAX_VALUE, 1, eventBytes, DurableWish.MAX_BYTES)
        + 3 * SLACK;
  }

  boolean isEmpty() {
    return out.position() == 0;
  }

  boolean fits(TopicState to, int eventBytes) {
    return out.position() + capacityFor(to.bytes.length, eventBytes) <= array.length;
  }

  /** Adds an event; {@link #fits} must have been called before. */
  void add(
      TopicState to,
      long sequence,
      EncodedEvent event,
      @Nullable CompletableFuture<Published> stage,
      long nowNanos) {
    if (to != topic
        || event.schema != schema
        // An event between them was removed.
        || sequence != firstSequence + runEvents
        || isEmpty()
        || event.wish != null
        || runWish != null
        || runEvents == FrameLimits.MAX_PUBLISHED_EVENTS) {
      endRun(false);
      startRun(to, sequence, event);
    } else if (runEvents == 1) {
      shift(headSize(to, LONG_RUN_EVENTS, LONG_RUN_BYTES));
    }
    Frames.writeEvent(out, event.publishedAt, event.key, event.headers, event.payload);
    if (stage != null) {
      PublishFrame frame = runFrame;
      if (frame == null) {
        frame = new PublishFrame(to, firstSequence, nowNanos);
        runFrame = frame;
      }
      frame.waiters.add(new PublishFrame.Waiter(runEvents, stage));
    }
    runEvents++;
    runCost += event.cost(stage != null);
  }

  /** Ends the frame that is being filled: the next event begins another. */
  void endFrame() {
    endRun(false);
  }

  private void startRun(TopicState to, long sequence, EncodedEvent event) {
    topic = to;
    schema = event.schema;
    runWish = event.wish;
    firstSequence = sequence;
    runStart = out.position();
    eventsStart = runStart + headSize(to, 1, event.size);
    out.position(eventsStart);
  }

  private int headSize(TopicState to, int count, int eventBytes) {
    int wish = DurableWish.bytes(runWish);
    int whole = Frames.publishSize(to.bytes.length, firstSequence, schema, count, eventBytes, wish);
    // The byte that ends the array comes after the events.
    return whole - eventBytes - 1 - wish;
  }

  /** Moves the events of the run so that the head before them has the given size. */
  private void shift(int head) {
    int target = runStart + head;
    if (target != eventsStart) {
      int bytes = out.position() - eventsStart;
      System.arraycopy(array, eventsStart, array, target, bytes);
      eventsStart = target;
      out.position(target + bytes);
    }
  }

  private void endRun(boolean mark) {
    TopicState to = topic;
    if (to == null) {
      return;
    }
    int eventBytes = out.position() - eventsStart;
    shift(headSize(to, runEvents, eventBytes));
    int end = out.position();
    out.position(runStart);
    boolean confirm = runFrame != null || mark;
    int wish = DurableWish.bytes(runWish);
    Frames.writePublishHead(
        out, to.bytes, firstSequence, schema, confirm, runEvents, eventBytes, wish);
    out.position(end);
    out.put((byte) 0);
    DurableWish.write(runWish, out);
    PublishFrame frame = runFrame;
    if (frame == null) {
      plainEvents += runEvents;
      plainCost += runCost;
    } else {
      frame.cost = runCost;
    }
    if (frame == null && mark) {
      frame = new PublishFrame(to, firstSequence, 0);
      frame.marker = true;
    }
    if (frame != null) {
      frame.eventCount = runEvents;
      frame.start = runStart;
      frame.length = out.position() - runStart;
      frames.add(frame);
      runFrame = null;
    }
    topic = null;
    runEvents = 0;
    runCost = 0;
  }

  /** Ends the message; this object must not be used any more. */
  Batch seal(boolean mark) {
    endRun(mark);
    Batch whole = new Batch(array, out.position(), List.copyOf(frames), plainEvents, plainCost);
    whole.number = number;
    return whole;
  }

  /** Event with its parts in their wire format. */
  public static final class EncodedEvent implements Body {
    final long publishedAt;
    final byte @Nullable [] key;
    final EncodedHeaders headers;
    final byte[] payload;
    final long schema;
    final @Nullable DurableWish wish;
    final int size;

    EncodedEvent(
        long publishedAt,
        byte @Nullable [] key,
        EncodedHeaders headers,
        byte[] payload,
        long schema,
        @Nullable DurableWish wish) {
      this.publishedAt = publishedAt;
      this.key = key;
      this.headers = headers;
      this.payload = payload;
      this.schema = schema;
      this.wish = wish;
      this.size =
          Frames.eventSize(
              publishedAt, key == null ? -1 : key.length, headers.size(), payload.length);
    }

    @Override
    public int bytes() {
      return size;
    }

    @Override
    public long fingerprint() {
      return schema;
    }

    @Override
    public void write(ByteBuffer to) {
      Frames.writeEvent(to, publishedAt, key, headers, payload);
    }

    long cost(boolean withStage) {
      return withStage ? size + STAGE_COST : size;
    }
  }
}
