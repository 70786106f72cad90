package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Event;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Publish;
import io.eventbus.schema.Welcome;
import io.eventbus.server.samples.FakeSubscriber;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.subscription.RoutedSubscription;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Events that a client publishes. */
class SessionPublishingTest extends SessionTestCase {
  @Test
  void aPublishIsRoutedStampedAndConfirmed() {
    Welcome welcome = welcome();
    handle(subscribe(1, "a.*", null));
    handle(SampleFrames.publish("a.b", 5, true, "x", "y", "z"));
    assertThat(link.taken())
        .containsExactly(
            new Confirm(TypeCode.SUBSCRIBE.code(), 1L, "", -1L, 0L, false, 0L),
            new Confirm(TypeCode.PUBLISH.code(), 7L, "a.b", 1L, 0L, false, 0L));
    assertThat(link.got).hasSize(1);
    SampleFrames.Delivered d = link.got.get(0);
    assertThat(d.producer()).isEqualTo(welcome.getProducer());
    assertThat(d.sequence()).isEqualTo(5);
    assertThat(d.payloads()).containsExactly("x", "y", "z");
    assertThat(d.receivedAt()).isEqualTo(NOW.getEpochSecond() * 1_000_000 + 123_456);
    assertThat(session.published()).isEqualTo(3);
    handle(SampleFrames.publish("a.b", 8, false, "w"));
    assertThat(link.taken()).as("not asked for").isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"a..b", ".a", "a.", "a b", "a.*", "a.>", "$SYS.x", "", "a\u0001"})
  void anIllegalTopicIsRefusedAndTheNextFrameIsHandled(String topic) {
    welcome();
    handle(subscribe(1, ">", null));
    link.taken();
    handle(SampleFrames.publish(topic, 9, true, "x", "y"));
    problem(ErrorCode.ILLEGAL_TOPIC, TypeCode.PUBLISH, 9, topic);
    handle(SampleFrames.publish("fine", 1, true, "x"));
    assertThat(link.taken())
        .containsExactly(new Confirm(TypeCode.PUBLISH.code(), 1L, "fine", 1L, 0L, false, 0L));
    assertThat(link.got).hasSize(1);
    assertThat(session.published()).isEqualTo(1);
    assertThat(link.closed).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"1, 0, 0,, 0", "0, 5, 0,, 0", "0, 0, 5,, 0", "0, 0, 0, outbox, 1"})
  void whatOnlyADurableTopicHasIsRefusedForOthers(
      long expect, long delay, long ttl, @Nullable String name, long number) {
    welcome();
    handle(subscribe(1, ">", null));
    link.taken();
    Event event = new Event(1L, null, Map.of(), ByteBuffer.allocate(0));
    Publish publish =
        new Publish("t", 3L, 0L, true, List.of(event), expect, delay, ttl, name, number);
    handle(ControlFrames.encode(TypeCode.PUBLISH, publish));
    problem(ErrorCode.NO_JOURNAL, TypeCode.PUBLISH, 3, "t");
    assertThat(link.got).isEmpty();
    assertThat(link.closed).isEmpty();
  }

  @Test
  void aPayloadOverTheLimitIsRefusedWithItsWholeFrame() {
    welcome();
    handle(subscribe(1, ">", null));
    link.taken();
    handle(SampleFrames.publish("t", 3, true, "fits", "x".repeat(1001)));
    assertThat(problem(ErrorCode.TOO_BIG, TypeCode.PUBLISH, 3, "t").getMessage())
        .contains("1001")
        .contains("1000");
    assertThat(link.got).isEmpty();
    handle(SampleFrames.publish("t", 3, true, "x".repeat(1000)));
    assertThat(link.got).hasSize(1);
    assertThat(link.closed).isEmpty();
  }

  @Test
  void aTopicThatIsTooLongIsRefusedAndTheNextFrameIsHandled() {
    welcome();
    handle(subscribe(1, ">", null));
    link.taken();
    handle(SampleFrames.publish("t".repeat(256), 7, true, "x"));
    assertThat(
            problem(ErrorCode.TOO_BIG, TypeCode.PUBLISH, 7, "t".repeat(252) + "\u2026")
                .getMessage())
        .isEqualTo("Publish.topic length: 256 at byte 0 (expected: at most 255)");
    // The truncation does not split a character.
    handle(SampleFrames.publish("t" + "\u00e9".repeat(200), 8, true, "x"));
    problem(ErrorCode.TOO_BIG, TypeCode.PUBLISH, 8, "t" + "\u00e9".repeat(125) + "\u2026");
    assertThat(link.closed).isEmpty();
    handle(SampleFrames.publish("t".repeat(255), 7, true, "x"));
    assertThat(link.taken())
        .containsExactly(
            new Confirm(TypeCode.PUBLISH.code(), 7L, "t".repeat(255), 1L, 0L, false, 0L));
    assertThat(link.got).hasSize(1);
  }

  @Test
  void aPublisherWaitsInTheMiddleOfAMessageAndGoesOnThere() {
    welcome();
    handle(subscribe(1, "slow", null));
    link.taken();
    byte[] first = SampleFrames.publish("fast", 1, true, "x");
    byte[] second = SampleFrames.publish("slow", 1, true, "y");
    byte[] third = SampleFrames.publish("slow", 2, true, "z");
    byte[] message = message(first, second, third);
    link.full(true);
    int at = handle(session, message, 0);
    assertThat(at).isEqualTo(first.length);
    assertThat(session.awaitsRoom()).isTrue();
    assertThat(link.taken())
        .containsExactly(new Confirm(TypeCode.PUBLISH.code(), 1L, "fast", 0L, 0L, false, 0L));
    assertThat(bus.counters.loops().get(0).publishersStopped.get()).isEqualTo(1);
    assertThat(retries).hasValue(0);
    // Called without need: it still has to wait, and has a new retry.
    assertThat(handle(session, message, at)).isEqualTo(at);
    link.full(false);
    assertThat(retries.get()).isPositive();
    assertThat(handle(session, message, at)).isEqualTo(message.length);
    assertThat(session.awaitsRoom()).isFalse();
    assertThat(link.taken())
        .containsExactly(
            new Confirm(TypeCode.PUBLISH.code(), 1L, "slow", 1L, 0L, false, 0L),
            new Confirm(TypeCode.PUBLISH.code(), 2L, "slow", 1L, 0L, false, 0L));
    assertThat(link.got).extracting(SampleFrames.Delivered::sequence).containsExactly(1L, 2L);
    assertThat(session.published()).isEqualTo(3);
  }

  @Test
  void aFrameForManySubscribersCountsForAsMuch() {
    welcome();
    List<RoutedSubscription> many = new ArrayList<>();
    for (int i = 0; i < 700; i++) {
      many.add(
          new RoutedSubscription(
              new FakeSubscriber(0), i, TopicFilter.parse("t"), null, Overflow.BLOCK));
    }
    many.forEach(bus.index::add);
    byte[] frame = SampleFrames.publish("t", 1, false, "");
    byte[] message = message(frame, frame, frame, frame, frame);
    int at = handle(session, message, 0);
    assertThat(at).isEqualTo(3 * frame.length);
    context.budget().renew();
    assertThat(handle(session, message, at)).isEqualTo(message.length);
    many.forEach(bus.index::remove);
  }
}
