package io.eventbus.client.internal;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.eventbus.client.ClientOptions;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.internal.base.FakeBus;
import io.eventbus.client.internal.base.FakeClock;
import io.eventbus.client.internal.base.ManualScheduler;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Barrier;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/** The end of a process whose clients are not closed. */
@Timeout(180)
class OpenClientsTest {
  private final FakeClock clock = new FakeClock();
  private final FakeBus bus = new FakeBus();
  private final Logger logger = (Logger) LoggerFactory.getLogger(OpenClients.class);
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

  @BeforeEach
  void listen() {
    logger.setAdditive(false);
    lines.start();
    logger.addAppender(lines);
  }

  @AfterEach
  void stop() {
    logger.detachAppender(lines);
    logger.setAdditive(true);
  }

  private ClientParts parts(Duration closeTimeout) {
    ClientOptions options =
        EventBusClient.builder()
            .url("ws://one/bus")
            .name("app")
            .closeTimeout(closeTimeout)
            .options();
    return ClientParts.wire(options, bus.outside(new ManualScheduler(clock), clock));
  }

  private static void exit(ClientParts parts) {
    OpenClients.ALL.finish(clients(parts));
  }

  private static List<OpenClients.Client> clients(ClientParts parts) {
    return OpenClients.ALL.all().stream().filter(c -> c.outbox() == parts.outbox()).toList();
  }

  private static boolean isOpen(ClientParts parts) {
    return !clients(parts).isEmpty();
  }

  @Test
  void aClientThatEndsBeforeItIsToldOfItsConnectionIsNotKept() {
    Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    ClientOptions options =
        EventBusClient.builder().url("ws://one/bus").executor(tasks::add).options();
    ClientParts parts = ClientParts.wire(options, bus.outside(new ManualScheduler(clock), clock));
    CompletableFuture<EventBusClient> client = parts.start();
    assertThat(isOpen(parts)).isTrue();
    bus.connection().end(4501, "not you");
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
    assertThat(client).isCompleted();
    assertThat(isOpen(parts)).isFalse();
  }

  @Test
  void aClientThatIsBeingClosedIsLeftToThatAtTheExit() throws Exception {
    bus.answersBarriers = false;
    ClientParts parts = parts(Duration.ofMinutes(1));
    EventBusClient client = parts.start().get(60, TimeUnit.SECONDS);
    assertThat(isOpen(parts)).isTrue();
    CompletableFuture<Boolean> closing =
        CompletableFuture.supplyAsync(() -> client.close(Duration.ofSeconds(60)));
    long barrier = (Long) bus.next(TypeCode.BARRIER).content();
    assertThat(isOpen(parts)).isFalse();
    bus.connection().frame(TypeCode.BARRIER, new Barrier(barrier));
    assertThat(closing).succeedsWithin(Duration.ofSeconds(60)).isEqualTo(true);
  }

  @Test
  void deliversPublishedEvents() throws Exception {
    ClientParts parts = parts(Duration.ofMinutes(1));
    try (EventBusClient client = parts.start().get(60, TimeUnit.SECONDS)) {
      for (int i = 0; i < 1_000; i++) {
        client.send("a", "x" + i);
        client.publish("b", "y" + i);
      }
      exit(parts);
      assertThat(parts.outbox().unsettled()).isZero();
      assertThat(lines.list).isEmpty();
    }
  }

  @Test
  void deliversEventsThatArePublishedWhileItWaits() throws Exception {
    bus.answersBarriers = false;
    ClientParts parts = parts(Duration.ofMinutes(1));
    try (EventBusClient client = parts.start().get(60, TimeUnit.SECONDS)) {
      client.send("a", "1");
      CompletableFuture<Void> exit = CompletableFuture.runAsync(() -> exit(parts));
      long first = (Long) bus.next(TypeCode.BARRIER).content();
      client.send("a", "2");
      bus.awaitPayload("2");
      bus.answersBarriers = true;
      bus.connection().frame(TypeCode.BARRIER, new Barrier(first));
      assertThat(exit).succeedsWithin(Duration.ofSeconds(60));
      assertThat(lines.list).isEmpty();
      assertThat(parts.outbox().unsettled()).isZero();
    }
  }

  @Test
  void saysNothingOfAClientThatIsBeingClosed() throws Exception {
    bus.answersBarriers = false;
    ClientParts parts = parts(Duration.ofMillis(1));
    EventBusClient client = parts.start().get(60, TimeUnit.SECONDS);
    client.send("a", "1");
    bus.awaitPayload("1");
    List<OpenClients.Client> open = clients(parts);
    CompletableFuture<Boolean> closing =
        CompletableFuture.supplyAsync(() -> client.close(Duration.ofSeconds(60)));
    long barrier = (Long) bus.next(TypeCode.BARRIER).content();
    OpenClients.ALL.finish(open);
    assertThat(parts.outbox().unsettled()).isEqualTo(1);
    assertThat(lines.list).isEmpty();
    bus.connection().frame(TypeCode.BARRIER, new Barrier(barrier));
    assertThat(closing).succeedsWithin(Duration.ofSeconds(60)).isEqualTo(true);
  }

  @Test
  void countsUndeliverableEvents() throws Exception {
    ClientParts parts = parts(Duration.ofMillis(1));
    try (EventBusClient client = parts.start().get(60, TimeUnit.SECONDS)) {
      bus.connectFailure = new IllegalStateException("refused");
      bus.connection().end(1006, "");
      client.send("a", "1");
      client.publish("a", "2");
      client.publish("b", "3");
      exit(parts);
      assertThat(lines.list)
          .singleElement()
          .asString()
          .contains("app: the process ends without close(), and 3 published events are lost");
    }
  }

  @Test
  void countsUnansweredEventsAsPossiblyLost() throws Exception {
    ClientParts parts = parts(Duration.ofMillis(1));
    try (EventBusClient client = parts.start().get(60, TimeUnit.SECONDS)) {
      bus.confirms = false;
      bus.answersBarriers = false;
      client.send("a", "1");
      bus.awaitPayload("1");
      client.publish("a", "2");
      bus.awaitPayload("2");
      exit(parts);
      assertThat(lines.list).singleElement().asString().contains("and 2 published events");
    }
  }
}
