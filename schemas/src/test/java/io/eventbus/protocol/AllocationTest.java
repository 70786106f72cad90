package io.eventbus.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import io.eventbus.schema.Event;
import io.eventbus.schema.Publish;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Allocation of the fast path: none, whatever block structure the publisher's library writes. */
class AllocationTest {
  private static final int EVENTS = 100;
  private static final int ROUNDS = 100;
  private static final int ATTEMPTS = 100;

  private final PublishView publish = new PublishView();
  private final DeliverView deliver = new DeliverView();
  private final FeedView feed = new FeedView();
  private final DeliverView fed = new DeliverView();
  private final FrameCursor frames = new FrameCursor();
  private final long[] groups = {3, 7};

  @ParameterizedTest
  @CsvSource({"false, 0", "true, 0", "false, 1", "true, 1", "false, 2", "true, 2"})
  void routingAllocatesNothing(boolean direct, int structure) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    assumeTrue(
        threads.isThreadAllocatedMemorySupported() && threads.isThreadAllocatedMemoryEnabled(),
        "this JVM does not count what a thread allocates");
    byte[] message = message(structure);
    ByteBuffer in = Bodies.surrounded(message, 3, 3, 0xFF, direct);
    ByteBuffer out = direct ? ByteBuffer.allocateDirect(64 * 1024) : ByteBuffer.allocate(64 * 1024);

    // The compiler removes or adds a few objects of its own while it warms up, so a measurement
    // without any has to come, and soon.
    long min = Long.MAX_VALUE;
    for (int attempt = 0; attempt < ATTEMPTS && min > 0; attempt++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int round = 0; round < ROUNDS; round++) {
        route(in, 3, 3 + message.length, out);
      }
      min = Math.min(min, threads.getCurrentThreadAllocatedBytes() - before);
    }

    assertThat(min).as("bytes allocated in %d rounds of %d events", ROUNDS, EVENTS).isZero();
  }

  /** Does what a bus does with a Publish, and a client with the Deliver. */
  private void route(ByteBuffer in, int from, int to, ByteBuffer out) {
    frames.wrap(in, from, to);
    while (frames.next()) {
      publish.read(in, frames.bodyStart(), frames.bodyEnd(), FrameLimits.DEFAULT);
      out.clear();
      int size = Frames.deliverSize(publish, 1, 2, -1, groups, 2);
      Frames.writeDeliver(out, in, publish, 1, 2, -1, groups, 2);
      Frames.writeConfirm(out, in, publish, 3);
      frames.wrap(out, 0, size);
      if (!frames.next() || frames.bodyEnd() != size) {
        throw new AssertionError("the Deliver does not have the size that was measured");
      }
      deliver.read(out, frames.bodyStart(), frames.bodyEnd(), FrameLimits.DEFAULT);
      feed(out, size);
      if (deliver.eventCount() != EVENTS) {
        throw new AssertionError(deliver.eventCount() + " events (expected: " + EVENTS + ")");
      }
    }
  }

  /** Does what a bus does with a stored Deliver, and a consumer with the Feed. */
  private void feed(ByteBuffer out, int size) {
    int start = out.position();
    DurableFrames.writeFeedHead(out, 4, 1, EVENTS, EVENTS, size, 2);
    Frames.copy(out, out, 0, size);
    DurableFrames.writeAttempt(out, 2);
    Frames.writeConfirm(out, out, deliver.topicStart(), deliver.topicLength(), 7, -1, 9, false, 8);
    frames.wrap(out, start, out.position());
    if (!frames.next()) {
      throw new AssertionError("there is no Feed");
    }
    feed.read(out, frames.bodyStart(), frames.bodyEnd());
    frames.wrap(out, feed.framesStart(), feed.framesEnd());
    if (!frames.next() || frames.bodyEnd() != feed.framesEnd()) {
      throw new AssertionError("the Deliver does not fill the Feed");
    }
    fed.read(out, frames.bodyStart(), frames.bodyEnd(), FrameLimits.DEFAULT);
    // For the loop over the message.
    frames.wrap(out, 0, 0);
  }

  /**
   * Encodes a message. Structure 0: one block without a size, 1: one with it, 2: several of both
   * kinds.
   */
  private static byte[] message(int structure) {
    List<Event> events = new ArrayList<>();
    for (int i = 0; i < EVENTS; i++) {
      events.add(
          new Event(
              1_700_000_000_000_000L + i,
              i % 2 == 0 ? null : "schlüssel-" + i,
              Map.of("content-type", "text/plain"),
              ByteBuffer.wrap(new byte[i])));
    }
    Publish record =
        new Publish("flights.EDDF.landed", 300L, -5L, true, events, 0L, 0L, 0L, null, 0L);
    byte[] body = structure == 2 ? AnyBlocksEncoder.encode(record, 1) : Bodies.avro(record);
    if (structure == 1) {
      PublishView view = new PublishView();
      view.read(ByteBuffer.wrap(body), 0, body.length, FrameLimits.DEFAULT);
      ByteBuffer blocks = ByteBuffer.allocate(view.eventsSize());
      view.writeEvents(blocks);
      // The last five bytes are the fields behind the events.
      int head = body.length - eventsLength(record) - 5;
      ByteBuffer again = ByteBuffer.allocate(head + blocks.capacity());
      again.put(body, 0, head).put(blocks.flip());
      body = again.array();
    }
    ByteBuffer message =
        ByteBuffer.allocate(Frames.headSize(TypeCode.PUBLISH, body.length) + body.length);
    Frames.writeHead(message, TypeCode.PUBLISH, body.length);
    return message.put(body).array();
  }

  /**
   * Returns the length of the library's array: the difference to a Publish without events, and its
   * end mark.
   */
  private static int eventsLength(Publish record) {
    Publish none =
        new Publish(
            record.getTopic(),
            record.getSequence(),
            record.getSchema$(),
            record.getConfirm(),
            List.of(),
            0L,
            0L,
            0L,
            null,
            0L);
    return Bodies.avro(record).length - Bodies.avro(none).length + 1;
  }
}
