package io.eventbus.client.internal.outbound;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.Published;
import io.eventbus.protocol.EncodedHeaders;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.PublishView;
import io.eventbus.protocol.TypeCode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Events that go into a message come out of it, in order, in as few frames as there are runs. */
class OpenBatchProperties {
  record In(int topic, long schema, int payloadBytes, boolean confirm) {}

  record Out(String topic, long sequence, long schema, int payloadBytes) {}

  @Provide
  Arbitrary<List<In>> events() {
    return Combinators.combine(
            Arbitraries.integers().between(0, 3),
            Arbitraries.of(0L, 0L, 0L, -5L, Long.MIN_VALUE),
            Arbitraries.frequencyOf(
                net.jqwik.api.Tuple.of(10, Arbitraries.integers().between(0, 200)),
                net.jqwik.api.Tuple.of(1, Arbitraries.integers().between(200, 20_000))),
            Arbitraries.of(true, false, false))
        .as(In::new)
        .list()
        .ofMaxSize(300);
  }

  private static TopicState topic(String name) {
    TopicState topic = new TopicState(name);
    topic.nextSequence = 1;
    return topic;
  }

  @Property(tries = 200)
  void returnsTheEventsThatWereAdded(@ForAll("events") List<In> events, @ForAll boolean mark) {
    Map<Integer, TopicState> topics = new HashMap<>();
    List<Out> expected = new ArrayList<>();
    OpenBatch open = new OpenBatch(new byte[256 * 1024], 1);
    int runs = 0;
    In before = null;
    int plain = 0;
    for (In in : events) {
      TopicState topic = topics.computeIfAbsent(in.topic, n -> topic("t".repeat(n * 60 + 1)));
      OpenBatch.EncodedEvent event =
          new OpenBatch.EncodedEvent(
              7, null, EncodedHeaders.NONE, new byte[in.payloadBytes], in.schema, null);
      if (!open.fits(topic, event.size)) {
        break;
      }
      if (before == null || before.topic != in.topic || before.schema != in.schema) {
        runs++;
      }
      before = in;
      expected.add(new Out(topic.name, topic.nextSequence, in.schema, in.payloadBytes));
      CompletableFuture<Published> stage = in.confirm ? new CompletableFuture<>() : null;
      open.add(topic, topic.nextSequence++, event, stage, 0);
    }
    Batch batch = open.seal(mark);
    List<Out> actual = new ArrayList<>();
    int frames = read(batch, actual);
    assertThat(actual).isEqualTo(expected);
    assertThat(frames).isEqualTo(runs);
    for (PublishFrame frame : batch.frames) {
      FrameCursor at =
          new FrameCursor().wrap(batch.message(), frame.start, frame.start + frame.length);
      assertThat(at.next()).isTrue();
      assertThat(at.bodyEnd()).isEqualTo(frame.start + frame.length);
    }

    // The same with new numbers: all of them count from 1000 on.
    Map<String, Long> renumbered = new HashMap<>();
    batch.resequence(
        (name, count) -> renumbered.merge(name, (long) count, Long::sum) - count + 1000);
    List<Out> again = new ArrayList<>();
    read(batch, again);
    assertThat(again).hasSameSizeAs(expected);
    for (int i = 0; i < again.size(); i++) {
      Out out = expected.get(i);
      assertThat(again.get(i))
          .isEqualTo(new Out(out.topic, out.sequence + 999, out.schema, out.payloadBytes));
    }
    assertThat(plain).isZero();
  }

  @Example
  void aFrameHasNoMoreEventsThanABusTakes() {
    TopicState topic = topic("t");
    OpenBatch open = new OpenBatch(new byte[1024 * 1024], 1);
    OpenBatch.EncodedEvent event =
        new OpenBatch.EncodedEvent(7, null, EncodedHeaders.NONE, new byte[0], 0, null);
    int count = FrameLimits.MAX_PUBLISHED_EVENTS + 5;
    for (int i = 0; i < count; i++) {
      open.add(topic, topic.nextSequence++, event, null, 0);
    }
    List<Out> actual = new ArrayList<>();
    assertThat(read(open.seal(false), actual)).isEqualTo(2);
    assertThat(actual).hasSize(count);
    assertThat(actual.get(count - 1).sequence()).isEqualTo(count);
  }

  private static int read(Batch batch, List<Out> into) {
    ByteBuffer message = batch.message();
    FrameCursor frames = new FrameCursor().wrap(message, 0, message.limit());
    PublishView view = new PublishView();
    int count = 0;
    while (frames.next()) {
      assertThat(frames.typeCode()).isEqualTo(TypeCode.PUBLISH.code());
      view.read(message, frames.bodyStart(), frames.bodyEnd(), FrameLimits.DEFAULT);
      EventCursor events =
          new EventCursor()
              .wrap(
                  message,
                  frames.bodyEnd() - view.eventsSize(),
                  frames.bodyEnd(),
                  FrameLimits.DEFAULT);
      while (events.next()) {
        into.add(
            new Out(
                view.topic(),
                view.sequence() + events.index(),
                view.schema(),
                events.payloadLength()));
      }
      assertThat(events.arrayEnd()).isEqualTo(frames.bodyEnd());
      count++;
    }
    return count;
  }
}
