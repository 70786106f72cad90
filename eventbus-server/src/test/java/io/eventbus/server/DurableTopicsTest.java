package io.eventbus.server;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.EventBusClient;
import io.eventbus.client.Published;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.SubscribeOptions;
import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.Journals;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.Retention;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.durable.FakeJournals;
import io.eventbus.server.durable.JournalStore;
import io.eventbus.server.samples.TestKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Durable topics of a bus with journals in memory, and clients over sockets. */
@Timeout(120)
class DurableTopicsTest {
  private final FakeJournals journals = new FakeJournals();
  private final List<EventBusClient> clients = new ArrayList<>();
  private final BusServer bus;

  DurableTopicsTest() throws Exception {
    journals
        .create(
            new JournalDefinition(
                "orders",
                List.of(TopicFilter.parse("orders.>")),
                KeepPolicy.ALL,
                Retention.UNLIMITED,
                FullPolicy.DROP_OLD))
        .toCompletableFuture()
        .get();
    bus =
        BusServer.start(
            ServerConfig.of(
                Map.of(
                    "listen.host",
                    "127.0.0.1",
                    "listen.port",
                    "0",
                    "listen.event-loops",
                    "2",
                    "timeouts.shutdown",
                    "1s",
                    "admin.enabled",
                    "false",
                    "auth.resume-key-file",
                    TestKey.FILE.toString())),
            (membership, advisories) -> store(journals));
  }

  private static JournalStore store(Journals journals) {
    return new JournalStore() {
      @Override
      public Journals journals() {
        return journals;
      }

      @Override
      public void close() {
        // In memory.
      }
    };
  }

  @AfterEach
  void close() {
    clients.forEach(client -> client.close(Duration.ZERO));
    bus.close();
  }

  private EventBusClient connect() {
    EventBusClient client = EventBusClient.builder().url(bus.uri()).connect();
    clients.add(client);
    return client;
  }

  private BlockingQueue<ReceivedEvent> subscribe(EventBusClient client, String filter)
      throws Exception {
    BlockingQueue<ReceivedEvent> received = new LinkedBlockingQueue<>();
    client.subscribe(filter, received::add).ready().toCompletableFuture().get(60, SECONDS);
    return received;
  }

  private static ReceivedEvent next(BlockingQueue<ReceivedEvent> received) throws Exception {
    ReceivedEvent event = received.poll(60, SECONDS);
    assertThat(event).isNotNull();
    return event;
  }

  @Test
  void nothingIsDeliveredOrConfirmedBeforeItIsCommitted() throws Exception {
    EventBusClient publisher = connect();
    BlockingQueue<ReceivedEvent> received = subscribe(connect(), ">");
    journals.holds(true);
    CompletableFuture<Published> stored = publisher.publish("orders.eu", "a").toCompletableFuture();
    publisher.publish("other", "b").toCompletableFuture().get(60, SECONDS);
    assertThat(next(received).text()).isEqualTo("b");
    assertThat(stored).isNotDone();
    assertThat(received).isEmpty();
    journals.holds(false);
    journals.applyHeld();
    stored.get(60, SECONDS);
    ReceivedEvent event = next(received);
    assertThat(event.text()).isEqualTo("a");
    assertThat(event.topic()).isEqualTo("orders.eu");
    assertThat(event.sequence()).isEqualTo(1);
  }

  @Test
  void subscribersOfAllLoopsGetEventsOfAllPublishersInOneOrder() throws Exception {
    List<BlockingQueue<ReceivedEvent>> all = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      all.add(subscribe(connect(), "orders.>"));
    }
    List<EventBusClient> publishers = List.of(connect(), connect());
    List<CompletableFuture<Published>> stored = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      stored.add(
          publishers.get(i % 2).publish("orders." + i % 3, "event " + i).toCompletableFuture());
    }
    for (CompletableFuture<Published> each : stored) {
      each.get(60, SECONDS);
    }
    List<String> first = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      first.add(next(all.get(0)).text());
    }
    assertThat(first).doesNotHaveDuplicates().hasSize(300);
    for (BlockingQueue<ReceivedEvent> other : all.subList(1, 3)) {
      List<String> same = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        same.add(next(other).text());
      }
      assertThat(same).isEqualTo(first);
    }
  }

  @Test
  void aPublisherWaitsForRoom() throws Exception {
    EventBusClient publisher = connect();
    journals.full(true);
    CompletableFuture<Published> stored = publisher.publish("orders.eu", "a").toCompletableFuture();
    journals.awaitWaiter();
    assertThat(stored).isNotDone();
    journals.full(false);
    stored.get(60, SECONDS);
    assertThat(Objects.requireNonNull(journals.figures(1)).lastPosition()).isEqualTo(1);
  }

  @Test
  void aGroupMemberGetsEachEventOnce() throws Exception {
    BlockingQueue<ReceivedEvent> received = new LinkedBlockingQueue<>();
    for (int i = 0; i < 2; i++) {
      connect()
          .subscribe("orders.>", SubscribeOptions.DEFAULT.withGroup("g"), received::add)
          .ready()
          .toCompletableFuture()
          .get(60, SECONDS);
    }
    EventBusClient publisher = connect();
    for (int i = 0; i < 10; i++) {
      publisher.publish("orders.eu", "event " + i).toCompletableFuture().get(60, SECONDS);
    }
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      texts.add(next(received).text());
    }
    assertThat(texts).doesNotHaveDuplicates();
    assertThat(received).isEmpty();
  }
}
