package io.eventbus.client.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.client.ErrorCode;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.PublishOptions;
import io.eventbus.client.Published;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.internal.base.FakeBus;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Problem;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Publishing to durable topics. */
@Timeout(180)
class DurablePublishTest extends ClientFixture {
  private static final Event EVENT = Event.of("x");

  private void confirm(long last, long position, boolean repeated) {
    bus.connection()
        .frame(
            TypeCode.CONFIRM,
            new Confirm(TypeCode.PUBLISH.code(), last, "a", -1L, position, repeated, 0L));
  }

  @Test
  void eachEventOfAFrameGetsItsPosition() throws Exception {
    bus.confirms = false;
    EventBusClient client = connect();
    bus.holdsSends = true;
    CompletionStage<Published> first = client.publish("a", "1");
    bus.nextPublish();
    // These wait for the network, and leave in one frame.
    CompletionStage<Published> second = client.publish("a", "2");
    CompletionStage<Published> third = client.publish("a", "3");
    bus.connection().releaseSend();
    assertThat(bus.nextPublish().payloads()).containsExactly("2", "3");
    confirm(1, 7, false);
    confirm(3, 12, false);
    assertThat(get(first)).isEqualTo(new Published("a", 77, 1, -1, 7, false));
    assertThat(get(second)).isEqualTo(new Published("a", 77, 2, -1, 11, false));
    assertThat(get(third)).isEqualTo(new Published("a", 77, 3, -1, 12, false));
    bus.connection().releaseSend();
  }

  @Test
  void ofAFrameThatWasStoredBeforeOnlyTheLastPositionIsKnown() throws Exception {
    bus.confirms = false;
    EventBusClient client = connect();
    bus.holdsSends = true;
    client.publish("a", "1");
    bus.nextPublish();
    CompletionStage<Published> second = client.publish("a", "2");
    CompletionStage<Published> third = client.publish("a", "3");
    bus.connection().releaseSend();
    bus.nextPublish();
    confirm(3, 12, true);
    assertThat(get(second).position()).isZero();
    assertThat(get(third)).isEqualTo(new Published("a", 77, 3, -1, 12, true));
    bus.connection().releaseSend();
  }

  @Test
  void anEventWithOptionsIsAloneInItsFrame() throws Exception {
    bus.confirms = false;
    EventBusClient client = connect();
    bus.holdsSends = true;
    client.publish("a", "1");
    bus.nextPublish();
    client.publish("a", "2");
    client.publish("a", Event.of("3"), PublishOptions.expecting(41));
    client.publish("a", Event.of("4"), PublishOptions.expecting(0).withTtl(Duration.ofMinutes(1)));
    client.publish("a", "5");
    client.publish(
        "a", Event.of("6"), PublishOptions.DEFAULT.withDelay(Duration.ofNanos(1_000_001)));
    client.publish("a", Event.of("7"), PublishOptions.DEFAULT);
    client.publish("a", "8");
    bus.connection().releaseSend();
    for (List<String> payloads :
        List.of(List.of("2"), List.of("3"), List.of("4"), List.of("5"), List.of("6"))) {
      assertThat(bus.nextPublish().payloads()).isEqualTo(payloads);
    }
    assertThat(bus.nextPublish().payloads()).containsExactly("7", "8");
    assertThat(bus.wishes)
        .containsExactly(List.of(42L, 0L, 0L), List.of(1L, 0L, 60_000L), List.of(0L, 2L, 0L));
    bus.connection().releaseSend();
  }

  @Test
  void optionsAreSentAgainAfterALostConnection() throws Exception {
    bus.confirms = false;
    EventBusClient client = connect();
    CompletionStage<Published> stage = client.publish("a", EVENT, PublishOptions.expecting(4));
    assertThat(bus.nextPublish().sequence()).isEqualTo(1);
    assertThat(take(bus.wishes)).containsExactly(5L, 0L, 0L);
    bus.connection().end(1006, "lost");
    scheduler.advance(Duration.ofSeconds(1));
    assertThat(bus.nextPublish().payloads()).containsExactly("x");
    assertThat(take(bus.wishes)).containsExactly(5L, 0L, 0L);
    confirm(1, 5, true);
    assertThat(get(stage)).isEqualTo(new Published("a", 77, 1, -1, 5, true));
  }

  @Test
  void optionsAreSentAgainUnderNewNumbers() throws Exception {
    bus.confirms = false;
    EventBusClient client = connect();
    client.publish("a", "1");
    bus.nextPublish();
    client.publish("a", EVENT, PublishOptions.expecting(4));
    bus.nextPublish();
    assertThat(take(bus.wishes)).containsExactly(5L, 0L, 0L);
    bus.producer = 99;
    bus.connection().end(1006, "lost");
    scheduler.advance(Duration.ofSeconds(1));
    assertThat(bus.nextPublish().sequence()).isEqualTo(1);
    FakeBus.Batch again = bus.nextPublish();
    assertThat(again.sequence()).isEqualTo(2);
    assertThat(again.payloads()).containsExactly("x");
    assertThat(take(bus.wishes)).containsExactly(5L, 0L, 0L);
  }

  @Test
  void anEventOfANamedProducerIsAloneInItsFrameAndSentAgainUnderItsNameAndNumber()
      throws Exception {
    bus.confirms = false;
    EventBusClient client = connect();
    bus.holdsSends = true;
    client.publish("a", "1");
    bus.nextPublish();
    CompletionStage<Published> second =
        client.publish("a", Event.of("2"), PublishOptions.producer("outbox", 41));
    PublishOptions options = PublishOptions.expecting(0).withProducer("é-1", 1L << 40);
    client.publish("a", Event.of("3"), options.withTtl(Duration.ofMinutes(1)));
    bus.connection().releaseSend();
    assertThat(bus.nextPublish().payloads()).containsExactly("2");
    assertThat(bus.nextPublish().payloads()).containsExactly("3");
    assertThat(bus.wishes).containsExactly(List.of(0L, 0L, 0L), List.of(1L, 0L, 60_000L));
    assertThat(List.of(take(bus.names), take(bus.names)))
        .containsExactly("outbox 41", "é-1 1099511627776");
    bus.connection().releaseSend();
    bus.holdsSends = false;

    // With the numbers of a new connection: those of the names stay.
    bus.producer = 99;
    bus.connection().end(1006, "lost");
    scheduler.advance(Duration.ofSeconds(1));
    assertThat(bus.nextPublish().sequence()).isEqualTo(1);
    assertThat(bus.nextPublish().sequence()).isEqualTo(2);
    assertThat(bus.nextPublish().sequence()).isEqualTo(3);
    assertThat(bus.names).containsExactly("outbox 41", "é-1 1099511627776");
    confirm(2, 5, true);
    assertThat(get(second)).isEqualTo(new Published("a", 99, 2, -1, 5, true));
  }

  @Test
  void aRefusalIsToldByItsCode() throws Exception {
    bus.confirms = false;
    EventBusClient client = connect();
    CompletionStage<Published> stage = client.publish("a", EVENT, PublishOptions.expecting(4));
    bus.nextPublish();
    bus.connection()
        .frame(
            TypeCode.PROBLEM,
            new Problem(
                io.eventbus.schema.ErrorCode.EXPECTATION_FAILED,
                "last position of the topic: 9",
                false,
                1L,
                TypeCode.PUBLISH.code(),
                "a"));
    assertThat(failure(stage))
        .isInstanceOfSatisfying(
            EventBusException.Refused.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.EXPECTATION_FAILED));
  }

  @Test
  void optionsAreRefusedWhereTheBusHasNoDurableTopics() throws Exception {
    bus.durable = false;
    EventBusClient client = connect();
    assertThat(failure(client.publish("a", EVENT, PublishOptions.expecting(0))))
        .isInstanceOfSatisfying(
            EventBusException.Refused.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED));
    // No number is used up, and options that ask for nothing need nothing.
    assertThat(get(client.publish("a", EVENT, PublishOptions.DEFAULT)).sequence()).isEqualTo(1);
    assertThat(bus.wishes).isEmpty();
  }

  @Test
  void optionsAreNotSentToABusWithoutDurableTopicsAfterAReconnect() throws Exception {
    bus.confirms = false;
    EventBusClient client = connect();
    CompletionStage<Published> plain = client.publish("a", "1");
    bus.nextPublish();
    CompletionStage<Published> stage = client.publish("a", EVENT, PublishOptions.expecting(0));
    bus.nextPublish();
    take(bus.wishes);
    bus.durable = false;
    bus.confirms = true;
    bus.connection().end(1006, "lost");
    scheduler.advance(Duration.ofSeconds(1));
    assertThat(get(plain).sequence()).isEqualTo(1);
    assertThat(failure(stage))
        .isInstanceOfSatisfying(
            EventBusException.Refused.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED));
    assertThat(bus.wishes).isEmpty();
  }

  @Test
  void optionsHaveBounds() throws Exception {
    assertThatIllegalArgumentException().isThrownBy(() -> PublishOptions.expecting(-1));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PublishOptions.DEFAULT.withDelay(Duration.ofNanos(-1)))
        .withMessageStartingWith("delay: ");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PublishOptions.DEFAULT.withTtl(Duration.ofDays(3651)))
        .withMessageStartingWith("ttl: ");
    EventBusClient client = connect();
    for (String name : List.of("", "a/b", "a b", "x".repeat(64))) {
      assertThatThrownBy(() -> client.publish("a", EVENT, PublishOptions.producer(name, 1)))
          .isInstanceOf(EventBusException.IllegalTopic.class)
          .hasMessageStartingWith("producer name: ");
    }
    for (long number : new long[] {-1, 0, Long.MAX_VALUE - 65_536}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> PublishOptions.producer("p", number))
          .withMessage("number: " + number + " (expected: 1 to 9223372036854710270)");
    }
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                new PublishOptions(
                    OptionalLong.empty(), Duration.ZERO, Duration.ZERO, Optional.empty(), 7))
        .withMessage("number: 7 (expected: 0 without a producer)");
  }

  @Test
  void aSubscriptionSeesPositionsAndPublishers() throws Exception {
    EventBusClient client = connect();
    BlockingQueue<ReceivedEvent> events = new LinkedBlockingQueue<>();
    get(client.subscribe("a", events::add).ready());
    bus.connection().message(FakeBus.stored("a", 41, 7, "x", "y"));
    ReceivedEvent first = take(events);
    assertThat(first.position()).isEqualTo(41);
    assertThat(first.producer()).isEqualTo(5);
    assertThat(first.sequence()).isEqualTo(7);
    ReceivedEvent second = take(events);
    assertThat(second.position()).isEqualTo(42);
    assertThat(second.sequence()).isEqualTo(8);
    assertThat(second.detached().position()).isEqualTo(42);
    deliver("a", 1, "z");
    ReceivedEvent plain = take(events);
    assertThat(plain.position()).isZero();
    assertThat(plain.sequence()).isEqualTo(1);
  }
}
