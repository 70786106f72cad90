package io.eventbus.client.internal.outbound;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.Published;
import io.eventbus.client.SendResult;
import io.eventbus.client.internal.base.FakeBus;
import io.eventbus.client.internal.base.FakeClock;
import io.eventbus.client.internal.base.Transport;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.PublishView;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Confirm;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Topics that an outbox remembers, with room for two. */
class PublishedTopicsTest {
  private static final int MAX = 2;

  private final FakeClock clock = new FakeClock();
  private final ClientOptions options = EventBusClient.builder().url("ws://one/bus").options();
  private final EventEncoder encoder = new EventEncoder(clock, options.outbound().bufferBytes());
  private final Outbox outbox = new Outbox(options.outbound(), clock, MAX);
  private final FakeBus bus = new FakeBus();
  private Transport.Channel channel;

  @BeforeEach
  void connect() {
    bus.silent = true;
    bus.connect(options.urls().get(0), java.time.Duration.ZERO, new Nobody());
    channel = bus.connection();
    outbox.connected(channel);
  }

  private static final class Nobody implements Transport.Listener {
    @Override
    public void onOpen(Transport.Channel channel) {}

    @Override
    public void onFailed(Throwable failure) {}

    @Override
    public void onMessage(ByteBuffer message) {}

    @Override
    public void onPong() {}

    @Override
    public void onClosed(int code, String reason) {}
  }

  private void publish(String topic, @Nullable CompletableFuture<Published> stage) {
    assertThat(
            outbox.add(
                outbox.topic(topic),
                encoder.encode(Event.of("x"), null),
                stage,
                encoder::checkAgain))
        .isEqualTo(SendResult.ACCEPTED);
  }

  /** Sends everything, and returns topics and first sequences as text. */
  private List<String> sent() {
    List<String> sent = new ArrayList<>();
    for (ByteBuffer next = outbox.next(channel); next != null; next = outbox.next(channel)) {
      FrameCursor cursor = new FrameCursor().wrap(next, next.position(), next.limit());
      PublishView view = new PublishView();
      while (cursor.next()) {
        view.read(next, cursor.bodyStart(), cursor.bodyEnd(), FrameLimits.DEFAULT);
        sent.add(view.topic() + " " + view.sequence());
      }
      outbox.sent();
    }
    return sent;
  }

  private List<String> sentAfter(String... topics) {
    for (String topic : topics) {
      publish(topic, null);
    }
    return sent();
  }

  @Test
  void aTopicThatWasForgottenGoesOnWhereItWas() {
    assertThat(sentAfter("a", "a", "b")).containsExactly("a 1", "b 1");
    assertThat(sentAfter("c", "d", "e", "f")).containsExactly("c 1", "d 1", "e 1", "f 1");
    assertThat(sentAfter("g", "h")).containsExactly("g 1", "h 1");
    assertThat(outbox.knownTopic("a")).isNull();
    assertThat(outbox.snapshot().topics()).isLessThan(8);
    assertThat(sentAfter("a", "b", "c")).containsExactly("a 3", "b 2", "c 2");
  }

  @Test
  void aTopicWhoseEventsAreNotSentIsNotForgotten() {
    for (String topic : List.of("a", "b", "c", "d", "e", "f", "g", "h", "a", "b")) {
      publish(topic, null);
    }
    assertThat(outbox.snapshot().topics()).isEqualTo(8);
    assertThat(sent())
        .containsExactly("a 1", "b 1", "c 1", "d 1", "e 1", "f 1", "g 1", "h 1", "a 2", "b 2");
  }

  @Test
  void aTopicWhoseEventsAreNotConfirmedIsNotForgotten() {
    publish("a", new CompletableFuture<>());
    sent();
    sentAfter("b", "c", "d", "e");
    sentAfter("f", "g", "h", "i");
    TopicState waiting = outbox.knownTopic("a");
    assertThat(waiting).isNotNull();
    List<PublishFrame> confirmed = new ArrayList<>();
    outbox
        .confirmations()
        .confirmed(new Confirm(TypeCode.PUBLISH.code(), 1L, "a", 1L, 0L, false, 0L), confirmed);
    assertThat(confirmed).hasSize(1);
    sentAfter("j", "k", "l", "m");
    sentAfter("n", "o", "p", "q");
    assertThat(outbox.knownTopic("a")).isNull();
    assertThat(sentAfter("a")).containsExactly("a 2");
  }

  @Test
  void aTopicWhoseEventsAreToBeSentAgainIsNotForgotten() {
    CompletableFuture<Published> stage = new CompletableFuture<>();
    publish("a", stage);
    sent();
    outbox.disconnected();
    for (String topic : List.of("b", "c", "d", "e", "f", "g", "h", "i")) {
      publish(topic, null);
    }
    TopicState waiting = outbox.knownTopic("a");
    assertThat(waiting).isNotNull();
    outbox.connected(channel);
    assertThat(sent()).startsWith("a 1");
    List<PublishFrame> confirmed = new ArrayList<>();
    outbox
        .confirmations()
        .confirmed(new Confirm(TypeCode.PUBLISH.code(), 1L, "a", 1L, 0L, false, 0L), confirmed);
    assertThat(confirmed).hasSize(1);
  }

  @Test
  void aTopicThatIsForgottenBetweenLookingItUpAndPublishingIsFoundAgain() {
    sentAfter("a");
    TopicState found = outbox.topic("a");
    sentAfter("b", "c", "d", "e");
    sentAfter("f", "g", "h", "i");
    assertThat(outbox.knownTopic("a")).isNull();
    assertThat(outbox.add(found, encoder.encode(Event.of("x"), null), null, encoder::checkAgain))
        .isEqualTo(SendResult.ACCEPTED);
    assertThat(sent()).containsExactly("a 2");
    assertThat(outbox.knownTopic("a")).isNotSameAs(found);
  }

  @Test
  void aNewProducerNumberStartsForgottenTopicsAgain() {
    sentAfter("a", "a");
    sentAfter("b", "c", "d", "e");
    sentAfter("f", "g", "h", "i");
    outbox.disconnected();
    outbox.resequence();
    outbox.connected(channel);
    assertThat(sentAfter("a", "i")).containsExactly("a 1", "i 1");
  }
}
