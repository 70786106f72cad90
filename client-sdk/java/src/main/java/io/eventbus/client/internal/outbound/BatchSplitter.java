package io.eventbus.client.internal.outbound;

import io.eventbus.client.Published;
import io.eventbus.protocol.EncodedHeaders;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.PublishView;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Splitter that copies events which wait to be sent into new messages and leaves some out. Where a
 * bus has a lower limit than the one that the events were checked for, it removes those that are
 * too big; all others keep their sequence numbers. Where events have timed out, it withdraws them,
 * and the unsent rest gets new numbers. Guarded by the {@link Outbox}'s lock.
 */
public final class BatchSplitter {
  private final int batchBytes;
  private final Choice choice;
  private final boolean renumbers;
  private final Function<String, TopicState> topics;
  private final List<Batch> batches = new ArrayList<>();
  private final List<PublishFrame> refused = new ArrayList<>();
  private @Nullable OpenBatch open;
  private long refusedPlain;
  private long costBefore;
  private boolean resend;
  private long number;
  // Number of withdrawn events of each topic.
  private final Map<TopicState, Long> withdrawn = new HashMap<>();

  /** Decision which events stay. */
  @FunctionalInterface
  private interface Choice {
    /** Returns whether an event stays; for an event that is waited for, its frame is given too. */
    boolean stays(OpenBatch.EncodedEvent event, @Nullable PublishFrame awaitedIn);
  }

  private BatchSplitter(
      int batchBytes, Choice choice, boolean renumbers, Function<String, TopicState> topics) {
    this.batchBytes = batchBytes;
    this.choice = choice;
    this.renumbers = renumbers;
    this.topics = topics;
  }

  /** Creates a splitter that removes what a bus does not accept. */
  static BatchSplitter toLimits(
      int batchBytes, Predicate<OpenBatch.EncodedEvent> fits, Function<String, TopicState> topics) {
    return new BatchSplitter(batchBytes, (event, awaitedIn) -> fits.test(event), false, topics);
  }

  /**
   * Creates a splitter that withdraws unsent events whose timeout is over.
   *
   * @param bornBefore nanoseconds of the {@code MicroClock}
   */
  static BatchSplitter withdrawing(
      int batchBytes, long bornBefore, Function<String, TopicState> topics) {
    return new BatchSplitter(
        batchBytes,
        (event, awaitedIn) -> awaitedIn == null || awaitedIn.createdNanos - bornBefore > 0,
        true,
        topics);
  }

  /**
   * Result of the split.
   *
   * @param batches the messages, in order
   * @param freed bytes of the outbound buffer that are not needed any more
   */
  public record Result(
      List<Batch> batches, List<PublishFrame> refused, long refusedPlain, long freed) {}

  Result result() {
    seal();
    withdrawn.forEach((topic, events) -> topic.nextSequence -= events);
    long cost = 0;
    for (Batch batch : batches) {
      cost += renumbers && batch.resend ? 0 : costOf(batch);
    }
    return new Result(batches, refused, refusedPlain, costBefore - cost);
  }

  private static long costOf(Batch batch) {
    long cost = batch.plainCost;
    for (PublishFrame frame : batch.frames) {
      cost += frame.cost;
    }
    return cost;
  }

  /** Adds the next message. */
  void add(Batch batch) {
    if (batch.isBarrier() || (renumbers && batch.resend)) {
      seal();
      batches.add(batch);
      return;
    }
    number = batch.number;
    if (batch.resend != resend) {
      seal();
      resend = batch.resend;
    }
    costBefore += costOf(batch);
    Map<Integer, PublishFrame> frames = new HashMap<>();
    batch.frames.forEach(frame -> frames.put(frame.start, frame));
    ByteBuffer in = batch.message();
    FrameCursor cursor = new FrameCursor().wrap(in, 0, batch.length);
    PublishView view = new PublishView();
    while (cursor.next()) {
      view.read(in, cursor.bodyStart(), cursor.bodyEnd(), FrameLimits.UNLIMITED);
      EventCursor events =
          new EventCursor()
              .wrap(
                  in,
                  view.eventsInPlace(),
                  view.eventsInPlace() + view.eventsSize(),
                  FrameLimits.UNLIMITED);
      addFrame(view, events, frames.get(cursor.frameStart()));
    }
  }

  private void addFrame(PublishView view, EventCursor events, @Nullable PublishFrame frame) {
    TopicState topic = topics.apply(view.topic());
    DurableWish wish = DurableWish.of(view);
    Map<Integer, CompletableFuture<Published>> stages = new HashMap<>();
    if (frame != null) {
      frame.waiters.forEach(waiter -> stages.put(waiter.index(), waiter.stage()));
    }
    long created = frame == null ? 0 : frame.createdNanos;
    if (open != null) {
      // All events of a frame have one age: with events of another age they would time out too
      // early.
      open.endFrame();
    }
    while (events.next()) {
      OpenBatch.EncodedEvent event = encode(events, view.schema(), wish);
      CompletableFuture<Published> stage = stages.get(events.index());
      long sequence = view.sequence() + events.index() - withdrawn.getOrDefault(topic, 0L);
      if (choice.stays(event, stage == null ? null : frame)) {
        batchFor(topic, event.size).add(topic, sequence, event, stage, created);
      } else if (stage == null) {
        refusedPlain++;
      } else {
        PublishFrame alone = new PublishFrame(topic, sequence, created);
        alone.needsDurable = wish != null;
        alone.waiters.add(new PublishFrame.Waiter(0, stage));
        refused.add(alone);
        if (renumbers) {
          withdrawn.merge(topic, 1L, Long::sum);
        }
      }
    }
  }

  private static OpenBatch.EncodedEvent encode(
      EventCursor event, long schema, @Nullable DurableWish wish) {
    String key = event.key();
    return new OpenBatch.EncodedEvent(
        event.publishedAt(),
        key == null ? null : key.getBytes(StandardCharsets.UTF_8),
        event.headerCount() == 0 ? EncodedHeaders.NONE : EncodedHeaders.of(event.headers()),
        event.payload(),
        schema,
        wish);
  }

  private OpenBatch batchFor(TopicState topic, int eventBytes) {
    OpenBatch batch = open;
    if (batch != null && !batch.fits(topic, eventBytes)) {
      seal();
      batch = null;
    }
    if (batch == null) {
      int needed = OpenBatch.capacityFor(topic.bytes.length, eventBytes);
      batch = new OpenBatch(new byte[Math.max(needed, batchBytes)], 0);
      open = batch;
    }
    return batch;
  }

  private void seal() {
    OpenBatch batch = open;
    if (batch != null && !batch.isEmpty()) {
      Batch whole = batch.seal(false);
      whole.resend = resend;
      whole.number = number;
      batches.add(whole);
    }
    open = null;
  }
}
