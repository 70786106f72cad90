package io.eventbus.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.Gap;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.SendResult;
import io.eventbus.client.SubscribeOptions;
import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.ChangeReason;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.samples.TestKey;
import io.eventbus.server.session.MoveListener;
import io.eventbus.server.session.MoveTokens;
import io.eventbus.server.session.Session;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Clients of the Java SDK that move from one bus to another under load, over real sockets. The
 * buses do not forward events to each other here: each topic's clients are all in one client.
 */
@Timeout(120)
class ChangeOfBusIT {
  private static final Duration LIFE = Duration.ofSeconds(10);

  private final List<BusServer> buses = new ArrayList<>();
  private final List<EventBusClient> clients = new ArrayList<>();
  private final BlockingQueue<Object> told = new LinkedBlockingQueue<>();
  private final AtomicInteger tokens = new AtomicInteger();

  private final ConnectionListener listener =
      new ConnectionListener() {
        @Override
        public void busChanged(ConnectionInfo before, ConnectionInfo now) {
          told.add(now.url());
        }

        @Override
        public void busChangeFailed(URI url, String why) {
          told.add(why);
        }

        @Override
        public void gap(Gap gap) {
          told.add(gap);
        }

        @Override
        public void disconnected(int code, String reason, boolean willReconnect) {
          told.add("disconnected with " + code + " " + reason);
        }
      };

  @AfterEach
  void close() {
    clients.forEach(client -> client.close(Duration.ZERO));
    buses.forEach(BusServer::close);
  }

  private BusServer bus(String name) throws IOException {
    BusServer bus =
        BusServer.start(
            ServerConfig.of(
                Map.of(
                    "bus.name",
                    name,
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
                    TestKey.FILE.toString())));
    buses.add(bus);
    return bus;
  }

  private EventBusClient connect(BusServer bus) {
    EventBusClient client = EventBusClient.builder().url(bus.uri()).listener(listener).connect();
    clients.add(client);
    return client;
  }

  private static Session sessionOf(BusServer bus, EventBusClient client) {
    long producer = client.connection().orElseThrow().producer();
    for (Session session : bus.sessions().after(0)) {
      if (session.producer() == producer) {
        return session;
      }
    }
    throw new AssertionError("the client is not at " + bus.name());
  }

  private String token(BusServer from, BusServer to, EventBusClient client, Duration life) {
    String token =
        to.sessions()
            .tokens()
            .issue(
                new MoveTokens.Grant(client.connection().orElseThrow().producer(), from.name(), 1),
                life);
    if (token == null) {
      throw new AssertionError("no token");
    }
    return token;
  }

  /**
   * Asks a client to move; completes with null when it is gone, or with the reason why it stays.
   */
  private CompletionStage<@Nullable String> ask(
      BusServer from, URI to, EventBusClient client, String token) {
    CompletableFuture<@Nullable String> answer = new CompletableFuture<>();
    sessionOf(from, client)
        .askToMove(
            new ChangeBus(List.of(to.toString()), ChangeReason.OPERATOR, LIFE.toMillis(), token, 3),
            new MoveListener() {
              @Override
              public void progresses() {}

              @Override
              public void left() {
                answer.complete(null);
              }

              @Override
              public void declined(String why) {
                answer.complete(why);
              }
            });
    return answer;
  }

  private void move(BusServer from, BusServer to, EventBusClient client) throws Exception {
    String why =
        ask(from, to.uri(), client, token(from, to, client, LIFE))
            .toCompletableFuture()
            .get(60, TimeUnit.SECONDS);
    assertThat(why).isNull();
    assertThat(told.poll(60, TimeUnit.SECONDS)).isEqualTo(to.uri());
    assertThat(sessionOf(to, client).moveGrant())
        .isEqualTo(
            new MoveTokens.Grant(client.connection().orElseThrow().producer(), from.name(), 1));
    tokens.incrementAndGet();
  }

  /** Checks that events come each once and in order, and by one thread at a time. */
  private static final class Checker {
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicLong next = new AtomicLong(1);
    private final BlockingQueue<String> faults = new LinkedBlockingQueue<>();
    private final CountDownLatch last = new CountDownLatch(1);
    private volatile long end = Long.MAX_VALUE;

    void accept(ReceivedEvent event) {
      if (inside.incrementAndGet() != 1) {
        faults.add("two threads in the handler");
      }
      long expected = next.getAndIncrement();
      long number = Long.parseLong(event.text());
      if (number != expected || event.sequence() != expected) {
        faults.add(number + " with sequence " + event.sequence() + ", expected " + expected);
        next.set(number + 1);
      }
      inside.decrementAndGet();
      if (next.get() > end) {
        last.countDown();
      }
    }

    void assertAll(long sent) throws InterruptedException {
      end = sent;
      if (next.get() > sent) {
        last.countDown();
      }
      assertThat(last.await(60, TimeUnit.SECONDS))
          .as("%d of %d arrived, faults: %s", next.get() - 1, sent, faults)
          .isTrue();
      assertThat(faults).isEmpty();
      assertThat(next.get() - 1).isEqualTo(sent);
    }
  }

  private void goToAndFro(SubscribeOptions how, boolean confirmed) throws Exception {
    BusServer one = bus("one");
    BusServer two = bus("two");
    EventBusClient client = connect(one);
    Checker checker = new Checker();
    client
        .subscribe("load.a", how, checker::accept)
        .ready()
        .toCompletableFuture()
        .get(60, TimeUnit.SECONDS);
    AtomicBoolean stop = new AtomicBoolean();
    AtomicLong sent = new AtomicLong();
    List<CompletableFuture<?>> confirmations = new ArrayList<>();
    Thread publisher =
        new Thread(
            () -> {
              while (!stop.get()) {
                Event event = Event.of(Long.toString(sent.get() + 1));
                if (confirmed) {
                  confirmations.add(client.publish("load.a", event).toCompletableFuture());
                  sent.incrementAndGet();
                } else if (client.send("load.a", event) == SendResult.ACCEPTED) {
                  sent.incrementAndGet();
                }
              }
            });
    publisher.start();
    try {
      for (int i = 0; i < 4; i++) {
        move(one, two, client);
        move(two, one, client);
      }
    } finally {
      stop.set(true);
      publisher.join(20_000);
    }
    client.flush(Duration.ofSeconds(20));
    checker.assertAll(sent.get());
    CompletableFuture.allOf(confirmations.toArray(new CompletableFuture<?>[0]))
        .get(60, TimeUnit.SECONDS);
    assertThat(sent.get()).isGreaterThan(1_000);
    assertThat(told).as("gaps, failed moves and lost connections").isEmpty();
    assertThat(client.counters().missing()).isZero();
    assertThat(client.counters().indeterminate()).isZero();
    assertThat(client.counters().resent()).isZero();
    assertThat(client.counters().busChanges()).isEqualTo(8);
  }

  @Test
  void aClientUnderLoadGoesToAndFroAndNothingIsLostDoubledOrOutOfOrder() throws Exception {
    goToAndFro(SubscribeOptions.DEFAULT, false);
  }

  @Test
  void withConfirmationsToo() throws Exception {
    goToAndFro(SubscribeOptions.DEFAULT, true);
  }

  @Test
  void asAMemberOfAGroupToo() throws Exception {
    goToAndFro(SubscribeOptions.DEFAULT.withGroup("workers"), false);
  }

  @Test
  void aTokenIsTakenOnceAndOnlyFromTheClientThatItIsFor() throws Exception {
    BusServer one = bus("one");
    BusServer two = bus("two");
    EventBusClient client = connect(one);
    EventBusClient other = connect(one);
    String token = token(one, two, client, LIFE);
    assertThat(refusal(one, two, other, token)).contains("another client's");
    assertThat(refusal(one, two, client, token + "A")).contains("not issued by this bus");
    assertThat(refusal(one, two, client, token(two, one, client, LIFE)))
        .as("of another bus")
        .contains("not issued by this bus");
    assertThat(refusal(one, two, client, token(one, two, client, Duration.ofNanos(1))))
        .contains("expired");
    assertThat(ask(one, two.uri(), client, token).toCompletableFuture().get(60, TimeUnit.SECONDS))
        .isNull();
    assertThat(told.poll(60, TimeUnit.SECONDS)).isEqualTo(two.uri());
    move(two, one, client);
    assertThat(refusal(one, two, client, token)).contains("used before");
    assertThat(other.connection().orElseThrow().url()).isEqualTo(one.uri());
  }

  private String refusal(BusServer from, BusServer to, EventBusClient client, String token)
      throws Exception {
    String why = ask(from, to.uri(), client, token).toCompletableFuture().get(60, TimeUnit.SECONDS);
    if (why == null) {
      throw new AssertionError("the client went");
    }
    assertThat(told.poll(60, TimeUnit.SECONDS)).isEqualTo(why);
    client.publish("still.here", Event.of("x")).toCompletableFuture().get(60, TimeUnit.SECONDS);
    return why;
  }

  @Test
  void aBusThatIsNotThereLeavesTheClientServed() throws Exception {
    BusServer one = bus("one");
    BusServer two = bus("two");
    EventBusClient client = connect(one);
    String token = token(one, two, client, LIFE);
    URI gone = two.uri();
    two.close();
    String why = ask(one, gone, client, token).toCompletableFuture().get(60, TimeUnit.SECONDS);
    assertThat(why).contains("no connection to " + gone);
    assertThat(told.poll(60, TimeUnit.SECONDS)).isEqualTo(why);
    client.publish("still.here", Event.of("x")).toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  @Test
  void aLateMoverIsClosedWithTheAddress() throws Exception {
    BusServer one = bus("one");
    BusServer two = bus("two");
    EventBusClient client = connect(one);
    Session session = sessionOf(one, client);
    CompletableFuture<String> end = new CompletableFuture<>();
    // No usable URL: the client says at once that it stays, and that is an answer.
    String unanswered = "unanswered";
    session.askToMove(
        new ChangeBus(List.of(), ChangeReason.OPERATOR, 1_000L, unanswered, 0),
        new MoveListener() {
          @Override
          public void progresses() {}

          @Override
          public void left() {
            end.complete("gone");
          }

          @Override
          public void declined(String why) {
            end.complete(why);
          }
        });
    assertThat(end.get(60, TimeUnit.SECONDS)).contains("none of the addresses");
    session.endMove(unanswered, two.uri().toString());
    client.publish("still.here", Event.of("x")).toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  @Test
  void aMemberThatGoesFailsNoCall() throws Exception {
    BusServer one = bus("one");
    BusServer two = bus("two");
    EventBusClient goes = connect(one);
    EventBusClient stays = connect(one);
    for (EventBusClient member : List.of(goes, stays)) {
      member
          .serve("move.echo", invocation -> CompletableFuture.completedFuture(invocation.event()))
          .ready()
          .toCompletableFuture()
          .get(60, TimeUnit.SECONDS);
    }
    EventBusClient caller = connect(one);
    AtomicBoolean stop = new AtomicBoolean();
    AtomicLong answered = new AtomicLong();
    BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
    Thread calling =
        new Thread(
            () -> {
              while (!stop.get()) {
                try {
                  caller.call("move.echo", Event.of("x"));
                  answered.incrementAndGet();
                } catch (RuntimeException e) {
                  failures.add(e);
                }
              }
            });
    calling.start();
    try {
      for (int i = 0; i < 4; i++) {
        move(one, two, goes);
        move(two, one, goes);
      }
    } finally {
      stop.set(true);
      calling.join(20_000);
    }
    assertThat(failures).isEmpty();
    assertThat(answered.get()).isPositive();
  }
}
