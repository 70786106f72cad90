package io.eventbus.client.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.eventbus.client.ClientBuilder;
import io.eventbus.client.ClientState;
import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.ErrorCode;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.EventStream;
import io.eventbus.client.Gap;
import io.eventbus.client.Published;
import io.eventbus.client.ReconnectPolicy;
import io.eventbus.client.SendResult;
import io.eventbus.client.Subscription;
import io.eventbus.client.WhenFull;
import io.eventbus.client.internal.base.FakeBus;
import io.eventbus.client.internal.base.UpgradeRefused;
import io.eventbus.client.internal.outbound.Barriers;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Barrier;
import io.eventbus.schema.Problem;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Connecting, publishing and closing, against a bus without a network and with a clock that stands.
 */
@Timeout(180)
class BusClientTest extends ClientFixture {
  private final Told told = new Told();

  /** Everything that the listener heard, as text. */
  static final class Told implements ConnectionListener {
    final BlockingQueue<String> calls = new LinkedBlockingQueue<>();

    /** Of the last end. */
    volatile String reason = "";

    @Override
    public void connected(ConnectionInfo connection) {
      calls.add("connected " + connection.session());
    }

    @Override
    public void disconnected(int code, String reason, boolean willReconnect) {
      this.reason = reason;
      calls.add("disconnected " + code + " " + willReconnect);
    }

    @Override
    public void reconnecting(int attempt, URI url, Duration delay) {
      calls.add("reconnecting " + attempt + " " + url.getHost() + " " + delay.toMillis());
    }

    @Override
    public void dropped(long events, DropCause cause) {
      calls.add("dropped " + events + " " + cause);
    }

    @Override
    public void problem(EventBusException problem) {
      calls.add("problem " + problem.getMessage());
    }

    @Override
    public void gap(Gap gap) {
      calls.add("gap " + gap.topic() + " " + gap.from() + ".." + gap.to() + " " + gap.reason());
    }

    @Override
    public void producerChanged(long before, long now) {
      calls.add("producer " + before + " " + now);
    }

    String next() throws InterruptedException {
      String call = calls.poll(60, TimeUnit.SECONDS);
      assertThat(call).as("a call within 60 s").isNotNull();
      return String.valueOf(call);
    }
  }

  @Override
  protected ClientBuilder settings() {
    return super.settings().listener(told);
  }

  // ---- Connecting

  @Test
  void greetsTheBusAndIsConnected() throws Exception {
    EventBusClient client = connect(b -> b.name("press").token("secret").attribute("a", "b"));
    assertThat(client.state()).isEqualTo(ClientState.CONNECTED);
    assertThat(client.connection())
        .contains(new ConnectionInfo(URI.create("ws://one/bus"), "bus", "session-1", 77));
    assertThat(bus.hellos.get(0).getClient()).isEqualTo("press");
    assertThat(bus.hellos.get(0).getToken()).isEqualTo("secret");
    assertThat(bus.hellos.get(0).getResume()).isNull();
    assertThat(bus.hellos.get(0).getPrevious()).isNull();
    assertThat(bus.hellos.get(0).getAttributes()).containsEntry("a", "b");
    assertThat(told.next()).isEqualTo("connected session-1");
  }

  @Test
  void messagesAreAcceptedUpToWhatTheBusTakes() throws Exception {
    int more = 128 * 1024;
    connect();
    assertThat(bus.connection().acceptedBytes).isEqualTo(4 * 1024 * 1024 + more);
    bus.messageBytes = 16 * 1024 * 1024;
    connect();
    assertThat(bus.connection().acceptedBytes).isEqualTo(16 * 1024 * 1024 + more);
    bus.messageBytes = 64 * 1024;
    connect();
    assertThat(bus.connection().acceptedBytes).isEqualTo(4 * 1024 * 1024 + more);
    bus.messageBytes = Integer.MAX_VALUE;
    connect();
    assertThat(bus.connection().acceptedBytes).isEqualTo((1 << 30) + more);
  }

  @Test
  void everyAddressIsTriedOnceForTheFirstConnection() throws Exception {
    bus.connectFailure = new IllegalStateException("refused");
    CompletableFuture<EventBusClient> client = start(b -> b.url("ws://two/bus"));
    Throwable failure = failure(client);
    assertThat(failure)
        .isInstanceOf(EventBusException.NotConnected.class)
        .hasMessageContaining("two");
    assertThat(bus.attempts)
        .containsExactly(URI.create("ws://one/bus"), URI.create("ws://two/bus"));
    assertThat(bus.closed).isTrue();
  }

  @Test
  void theFirstConnectionIsTriedAgainIfThePolicySaysSo() throws Exception {
    bus.connectFailure = new IllegalStateException("refused");
    CompletableFuture<EventBusClient> client =
        start(
            b ->
                b.url("ws://two/bus")
                    .connectTimeout(Duration.ofSeconds(30))
                    .reconnect(ReconnectPolicy.DEFAULT.withRetryFirst(true)));
    assertThat(bus.attempts).hasSize(2);
    scheduler.advance(Duration.ofMillis(100));
    assertThat(bus.attempts)
        .containsExactly(
            URI.create("ws://one/bus"),
            URI.create("ws://two/bus"),
            URI.create("ws://one/bus"),
            URI.create("ws://two/bus"));
    assertThat(client).isNotDone();
    bus.connectFailure = null;
    scheduler.advance(Duration.ofMillis(200));
    assertThat(get(client).state()).isEqualTo(ClientState.CONNECTED);
    assertThat(told.next()).startsWith("connected");
  }

  @Test
  void theFirstConnectionIsTriedAgainNoLongerThanItMayTake() throws Exception {
    bus.connectFailure = new IllegalStateException("refused");
    CompletableFuture<EventBusClient> client =
        start(
            b ->
                b.connectTimeout(Duration.ofSeconds(3))
                    .reconnect(ReconnectPolicy.DEFAULT.withRetryFirst(true)));
    scheduler.advance(Duration.ofSeconds(1));
    assertThat(client).isNotDone();
    scheduler.advance(Duration.ofSeconds(2));
    assertThat(failure(client))
        .isInstanceOf(EventBusException.NotConnected.class)
        .hasMessageContaining("refused");
    assertThat(bus.closed).isTrue();
  }

  @Test
  void theFirstConnectionIsTriedUntilTheEndOfItsTime() throws Exception {
    bus.connectFailure = new IllegalStateException("refused");
    CompletableFuture<EventBusClient> client =
        start(
            b ->
                b.connectTimeout(Duration.ofSeconds(10))
                    .reconnect(ReconnectPolicy.DEFAULT.withRetryFirst(true)));
    // The policy would wait for 6.4 s after 6.3 s.
    scheduler.advance(Duration.ofSeconds(9));
    assertThat(client).isNotDone();
    bus.connectFailure = null;
    scheduler.advance(Duration.ofSeconds(1));
    assertThat(get(client).state()).isEqualTo(ClientState.CONNECTED);
  }

  @Test
  void theFirstConnectionWaitsAsLongAsTheServerAsks() throws Exception {
    bus.connectFailure = new UpgradeRefused(503, "", "7", false);
    CompletableFuture<EventBusClient> client =
        start(
            b ->
                b.connectTimeout(Duration.ofSeconds(10))
                    .reconnect(ReconnectPolicy.DEFAULT.withRetryFirst(true)));
    scheduler.advance(Duration.ofMillis(6_999));
    assertThat(bus.attempts).hasSize(1);
    bus.connectFailure = null;
    scheduler.advance(Duration.ofMillis(1));
    assertThat(get(client).state()).isEqualTo(ClientState.CONNECTED);
  }

  @Test
  void theFirstConnectionEndsAtOnceIfTheServerAsksForMoreTimeThanThereIs() throws Exception {
    bus.connectFailure = new UpgradeRefused(503, "", "11", false);
    CompletableFuture<EventBusClient> client =
        start(
            b ->
                b.connectTimeout(Duration.ofSeconds(10))
                    .reconnect(ReconnectPolicy.DEFAULT.withRetryFirst(true)));
    assertThat(failure(client)).hasMessageContaining("503");
    assertThat(bus.attempts).hasSize(1);
  }

  @Test
  void aRefusedClientDoesNotTryAgain() throws Exception {
    bus.silent = true;
    CompletableFuture<EventBusClient> client =
        start(b -> b.reconnect(ReconnectPolicy.DEFAULT.withRetryFirst(true)));
    bus.connection().end(4501, "not you");
    assertThat(failure(client)).isInstanceOf(EventBusException.Refused.class);
    assertThat(bus.attempts).hasSize(1);
  }

  @Test
  void aBusThatDoesNotAnswerIsGivenUp() throws Exception {
    bus.silent = true;
    CompletableFuture<EventBusClient> client = start(b -> b.connectTimeout(Duration.ofSeconds(3)));
    scheduler.advance(Duration.ofSeconds(2));
    assertThat(client).isNotDone();
    scheduler.advance(Duration.ofSeconds(2));
    assertThat(failure(client)).isInstanceOf(EventBusException.TimedOut.class);
  }

  @Test
  void aRefusedClientIsToldWhy() throws Exception {
    bus.silent = true;
    CompletableFuture<EventBusClient> client = start(b -> b.url("ws://two/bus"));
    bus.connection()
        .frame(
            TypeCode.PROBLEM,
            new Problem(
                io.eventbus.schema.ErrorCode.UNAUTHENTICATED, "no token", false, 0L, -1, ""));
    bus.connection().end(4500, "no token");
    assertThat(failure(client))
        .isInstanceOfSatisfying(
            EventBusException.Refused.class,
            e -> {
              assertThat(e.code()).isEqualTo(ErrorCode.UNAUTHENTICATED);
              assertThat(e.retryable()).isFalse();
            });
    assertThat(bus.attempts).hasSize(1);
  }

  @Test
  void reconnectsWithBackOffOverAllAddresses() throws Exception {
    EventBusClient client = connect(b -> b.url("ws://two/bus"));
    assertThat(told.next()).isEqualTo("connected session-1");
    bus.connectFailure = new IllegalStateException("refused");
    bus.connection().end(1006, "");
    assertThat(told.next()).isEqualTo("disconnected 1006 true");
    assertThat(told.next()).isEqualTo("reconnecting 1 two 100");
    assertThat(client.state()).isEqualTo(ClientState.RECONNECTING);
    scheduler.advance(Duration.ofMillis(100));
    assertThat(told.next()).isEqualTo("reconnecting 2 one 200");
    scheduler.advance(Duration.ofMillis(200));
    assertThat(told.next()).isEqualTo("reconnecting 3 two 400");
    bus.connectFailure = null;
    scheduler.advance(Duration.ofMillis(400));
    assertThat(told.next()).isEqualTo("connected session-2");
    assertThat(bus.hellos.get(1).getResume()).isEqualTo("resume-77");
    assertThat(bus.hellos.get(1).getPrevious()).isEqualTo("session-1");
    assertThat(client.counters().reconnects()).isEqualTo(1);
    // A connection that held starts the back-off anew.
    scheduler.advance(Duration.ofSeconds(5));
    bus.connection().end(4000, "go");
    assertThat(told.next()).isEqualTo("disconnected 4000 true");
    assertThat(told.next()).isEqualTo("reconnecting 1 one 100");
  }

  @Test
  void aBusThatGreetsAndClosesIsNotHammered() throws Exception {
    connect();
    assertThat(told.next()).isEqualTo("connected session-1");
    for (int attempt = 1; attempt <= 3; attempt++) {
      long delay = 100L << (attempt - 1);
      scheduler.advance(Duration.ofMillis(100));
      bus.connection().end(4000, "go");
      assertThat(told.next()).isEqualTo("disconnected 4000 true");
      assertThat(told.next()).isEqualTo("reconnecting " + attempt + " one " + delay);
      scheduler.advance(Duration.ofMillis(delay));
      assertThat(told.next()).isEqualTo("connected session-" + (attempt + 1));
    }
  }

  @Test
  void aConnectionThatDiesWithoutAWordIsReplaced() throws Exception {
    EventBusClient client = connect(b -> b.silenceTimeout(Duration.ofSeconds(4)));
    assertThat(told.next()).isEqualTo("connected session-1");
    scheduler.advance(Duration.ofMinutes(1));
    assertThat(bus.pings).hasValueBetween(28, 30);
    assertThat(told.calls).isEmpty();
    bus.answersPings = false;
    scheduler.advance(Duration.ofSeconds(2));
    assertThat(client.state()).isEqualTo(ClientState.CONNECTED);
    scheduler.advance(Duration.ofSeconds(2));
    assertThat(told.next()).isEqualTo("disconnected 1006 true");
    assertThat(told.next()).isEqualTo("reconnecting 1 one 100");
    scheduler.advance(Duration.ofMillis(100));
    assertThat(told.next()).isEqualTo("connected session-2");
    assertThat(client.state()).isEqualTo(ClientState.CONNECTED);
  }

  @Test
  void aVerdictIsNotArguedWith() throws Exception {
    EventBusClient client = connect();
    CompletionStage<Void> flush = blockedFlush(client);
    bus.connection().end(4501, "not you");
    assertThat(told.next()).startsWith("connected");
    assertThat(told.next()).isEqualTo("disconnected 4501 false");
    assertThat(failure(flush)).isInstanceOf(EventBusException.Closed.class);
    assertThat(client.state()).isEqualTo(ClientState.CLOSED);
    assertThat(failure(client.publish("a", "x"))).isInstanceOf(EventBusException.Closed.class);
    assertThat(client.send("a", "x")).isEqualTo(SendResult.CLOSED);
    assertThatExceptionOfType(EventBusException.Closed.class)
        .isThrownBy(() -> client.subscribe("a", event -> {}));
  }

  @Test
  void callsToARefusedClientNameTheRefusal() throws Exception {
    EventBusClient client = connect();
    Subscription subscription = blockedSubscription(client);
    CompletionStage<Void> flush = blockedFlush(client);
    bus.connection().end(4501, "not you");
    assertThat(told.next()).startsWith("connected");
    assertThat(told.next()).isEqualTo("disconnected 4501 false");
    for (Throwable failure :
        List.of(
            failure(client.publish("a", "x")),
            failure(client.flushAsync()),
            failure(flush),
            failure(subscription.ready()),
            assertThatExceptionOfType(EventBusException.Closed.class)
                .isThrownBy(() -> client.subscribe("a", event -> {}))
                .actual())) {
      assertThat(failure)
          .isInstanceOf(EventBusException.Closed.class)
          .hasMessageContaining("not you")
          .cause()
          .isInstanceOfSatisfying(
              EventBusException.Refused.class,
              e -> assertThat(e.code()).isEqualTo(ErrorCode.FORBIDDEN));
    }
  }

  @Test
  void anUpgradeThatIsRefusedForGoodIsNotAskedForAgain() throws Exception {
    // Another address is no help: the mistake is in the request.
    EventBusClient client = connect(b -> b.url("ws://two/bus"));
    assertThat(told.next()).isEqualTo("connected session-1");
    bus.connectFailure = new UpgradeRefused(404, "Not Found", null, true);
    bus.connection().end(1006, "");
    assertThat(told.next()).isEqualTo("disconnected 1006 true");
    assertThat(told.next()).isEqualTo("reconnecting 1 two 100");
    scheduler.advance(Duration.ofMillis(100));
    assertThat(told.next()).isEqualTo("disconnected 1006 false");
    assertThat(told.reason).contains("404 Not Found").contains("ws://two/bus");
    assertThat(client.state()).isEqualTo(ClientState.CLOSED);
    assertThat(bus.attempts).hasSize(2);
    assertThat(failure(client.publish("a", "x")))
        .isInstanceOf(EventBusException.Closed.class)
        .hasMessageContaining("404")
        .hasCauseInstanceOf(EventBusException.Refused.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {408, 425, 429, 500, 502, 503, 599})
  void anUpgradeThatTheServerCannotDoNowIsAskedForAgain(int status) throws Exception {
    connect();
    assertThat(told.next()).isEqualTo("connected session-1");
    bus.connectFailure = new UpgradeRefused(status, "", null, true);
    bus.connection().end(1006, "");
    assertThat(told.next()).isEqualTo("disconnected 1006 true");
    assertThat(told.next()).isEqualTo("reconnecting 1 one 100");
    scheduler.advance(Duration.ofMillis(100));
    assertThat(told.next()).isEqualTo("reconnecting 2 one 200");
    bus.connectFailure = null;
    scheduler.advance(Duration.ofMillis(200));
    assertThat(told.next()).isEqualTo("connected session-2");
  }

  @Test
  void aServerThatAsksForTimeGetsIt() throws Exception {
    connect();
    assertThat(told.next()).isEqualTo("connected session-1");
    bus.connectFailure = new UpgradeRefused(429, "", "7", false);
    bus.connection().end(1006, "");
    assertThat(told.next()).isEqualTo("disconnected 1006 true");
    assertThat(told.next()).isEqualTo("reconnecting 1 one 100");
    scheduler.advance(Duration.ofMillis(100));
    assertThat(told.next()).isEqualTo("reconnecting 2 one 7000");
    bus.connectFailure = new UpgradeRefused(503, "", "99999999", true);
    scheduler.advance(Duration.ofSeconds(7));
    assertThat(told.next()).isEqualTo("reconnecting 3 one 300000");
  }

  @ParameterizedTest
  @CsvSource({
    "200, UNSUPPORTED",
    "302, UNSUPPORTED",
    "400, UNSUPPORTED",
    "401, UNAUTHENTICATED",
    "403, FORBIDDEN",
    "404, UNSUPPORTED",
    "426, UNSUPPORTED",
    "499, UNSUPPORTED"
  })
  void theFirstUpgradeThatIsRefusedForGoodIsTheLast(int status, ErrorCode code) throws Exception {
    bus.connectFailure = new UpgradeRefused(status, "No", null, true);
    CompletableFuture<EventBusClient> client =
        start(b -> b.url("ws://two/bus").reconnect(ReconnectPolicy.DEFAULT.withRetryFirst(true)));
    assertThat(failure(client))
        .hasMessageContaining("ws://one/bus")
        .hasMessageContaining(status + " No")
        .isInstanceOfSatisfying(
            EventBusException.Refused.class,
            e -> {
              assertThat(e.code()).isEqualTo(code);
              assertThat(e.retryable()).isFalse();
            });
    assertThat(bus.attempts).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {301, 401, 403, 404, 407, 418})
  void aProxyDoesNotEndAConnectedClient(int status) throws Exception {
    EventBusClient client = connect();
    assertThat(told.next()).isEqualTo("connected session-1");
    bus.connectFailure = new UpgradeRefused(status, "", null, false);
    bus.connection().end(1006, "");
    scheduler.advance(Duration.ofMinutes(1));
    assertThat(client.state()).isEqualTo(ClientState.RECONNECTING);
    bus.connectFailure = null;
    scheduler.advance(Duration.ofSeconds(10));
    assertThat(client.state()).isEqualTo(ClientState.CONNECTED);
  }

  @Test
  void aProxyDoesNotEndTheFirstAttemptsAtOtherAddresses() throws Exception {
    bus.connectFailure = new UpgradeRefused(404, "no backend", null, false);
    CompletableFuture<EventBusClient> client = start(b -> b.url("ws://two/bus"));
    assertThat(failure(client))
        .isInstanceOfSatisfying(
            EventBusException.Refused.class, e -> assertThat(e.retryable()).isTrue());
    assertThat(bus.attempts).hasSize(2);
  }

  @Test
  void withdrawsUnsentEventsAtTheirTimeoutWithoutAGap() throws Exception {
    Duration delay = Duration.ofMillis(100);
    EventBusClient client =
        connect(
            b ->
                b.confirmTimeout(Duration.ofSeconds(5))
                    .reconnect(new ReconnectPolicy(delay, delay, 1, 0, 1000)));
    get(client.publish("a", "0"));
    bus.nextPublish();
    bus.connectFailure = new IllegalStateException("refused");
    bus.connection().end(1006, "");
    CompletionStage<Published> late = client.publish("a", "late");
    CompletionStage<Published> other = client.publish("b", "late, too");
    client.send("a", "plain");
    scheduler.advance(Duration.ofSeconds(3));
    CompletionStage<Published> early = client.publish("a", "early");
    scheduler.advance(Duration.ofSeconds(4));
    for (CompletionStage<Published> stage : List.of(late, other)) {
      assertThat(failure(stage))
          .isInstanceOf(EventBusException.TimedOut.class)
          .hasMessageContaining("will not be sent");
    }
    CompletionStage<Published> after = client.publish("b", "after");
    assertThat(early.toCompletableFuture()).isNotDone();
    bus.connectFailure = null;
    scheduler.advance(delay);
    assertThat(get(early).sequence()).isEqualTo(3);
    assertThat(get(after).sequence()).isEqualTo(1);
    List<String> sent = new ArrayList<>();
    for (FakeBus.Batch batch = bus.nextPublish(); ; batch = bus.nextPublish()) {
      sent.add(batch.topic() + batch.sequence() + batch.payloads());
      if (batch.topic().equals("b")) {
        break;
      }
    }
    assertThat(sent).containsExactly("a2[plain]", "a3[early]", "b1[after]");
    assertThat(client.counters().bufferedBytes()).isZero();
  }

  /** Checks that withdrawing the oldest makes those that stay no older. */
  @Test
  void eachEventIsWithdrawnAtItsOwnTime() throws Exception {
    Duration delay = Duration.ofMillis(100);
    EventBusClient client =
        connect(
            b ->
                b.confirmTimeout(Duration.ofSeconds(5))
                    .reconnect(new ReconnectPolicy(delay, delay, 1, 0, 1000)));
    bus.connectFailure = new IllegalStateException("refused");
    bus.connection().end(1006, "");
    List<CompletionStage<Published>> stages = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      stages.add(client.publish("a", "x" + i));
      scheduler.advance(Duration.ofSeconds(1));
    }
    for (CompletionStage<Published> late : stages.subList(0, 2)) {
      assertThat(failure(late)).hasMessageContaining("will not be sent");
    }
    for (CompletionStage<Published> early : stages.subList(3, 7)) {
      assertThat(early.toCompletableFuture()).isNotDone();
    }
    bus.connectFailure = null;
    scheduler.advance(delay);
    for (CompletionStage<Published> early : stages.subList(3, 7)) {
      get(early);
    }
    assertThat(client.counters().bufferedBytes()).isZero();
  }

  @Test
  void doesNotWithdrawEventsThatMayBeDelivered() throws Exception {
    EventBusClient client = connect(b -> b.confirmTimeout(Duration.ofSeconds(5)));
    bus.confirms = false;
    CompletionStage<Published> sent = client.publish("a", "sent");
    bus.awaitPayload("sent");
    bus.awaitSent();
    bus.connectFailure = new IllegalStateException("refused");
    bus.connection().end(1006, "");
    CompletionStage<Published> unsent = client.publish("a", "unsent");
    scheduler.advance(Duration.ofSeconds(7));
    assertThat(failure(sent)).hasMessageContaining("delivered or not");
    assertThat(failure(unsent)).hasMessageContaining("will not be sent");
    bus.connectFailure = null;
    bus.confirms = true;
    scheduler.advance(Duration.ofSeconds(10));
    assertThat(get(client.publish("a", "next")).sequence()).isEqualTo(2);
  }

  private Subscription blockedSubscription(EventBusClient client) {
    bus.confirmsSubscriptions = false;
    return client.subscribe("b", event -> {});
  }

  @Test
  void callsToAClosedClientNeedNoReason() throws Exception {
    EventBusClient client = connect();
    client.close();
    assertThat(failure(client.publish("a", "x")))
        .isInstanceOf(EventBusException.Closed.class)
        .hasMessage("the client is closed")
        .hasNoCause();
  }

  private CompletionStage<Void> blockedFlush(EventBusClient client) {
    bus.answersBarriers = false;
    return client.flushAsync();
  }

  @Test
  void givesUpAfterTheTriesThatThePolicyAllows() throws Exception {
    EventBusClient client = connect(b -> b.reconnect(ReconnectPolicy.NEVER));
    bus.connection().end(1006, "");
    assertThat(told.next()).startsWith("connected");
    assertThat(told.next()).isEqualTo("disconnected 1006 false");
    assertThat(client.state()).isEqualTo(ClientState.CLOSED);
  }

  // ---- Publishing

  @Test
  void aConfirmedEventCompletesItsStage() throws Exception {
    EventBusClient client = connect();
    assertThat(get(client.publish("a.b", "one"))).isEqualTo(new Published("a.b", 77, 1, -1));
    assertThat(get(client.publish("a.b", "two"))).isEqualTo(new Published("a.b", 77, 2, -1));
    assertThat(get(client.publish("a.c", "three"))).isEqualTo(new Published("a.c", 77, 1, -1));
    assertThat(client.counters().confirmed()).isEqualTo(3);
    assertThat(client.counters().bufferedBytes()).isZero();
  }

  @Test
  void anEventAsksForConfirmationOnlyIfSomebodyWaits() throws Exception {
    EventBusClient client = connect();
    assertThat(client.send("a", "one")).isEqualTo(SendResult.ACCEPTED);
    assertThat(bus.nextPublish()).isEqualTo(new FakeBus.Batch("a", 1, 0, false, List.of("one")));
    get(client.publish("a", Event.builder("two").schema(5).build()));
    assertThat(bus.nextPublish()).isEqualTo(new FakeBus.Batch("a", 2, 5, true, List.of("two")));
  }

  @Test
  void eventsCollectWhileASendIsUnderWay() throws Exception {
    EventBusClient client = connect();
    bus.holdsSends = true;
    client.send("a", "first");
    FakeBus.Arrival first = bus.next(TypeCode.PUBLISH);
    for (int i = 0; i < 100; i++) {
      client.send("a", "more" + i);
    }
    client.send("b", "other");
    client.send("a", "last");
    assertThat(bus.arrivals).isEmpty();
    bus.connection().releaseSend();
    FakeBus.Arrival second = bus.next(TypeCode.PUBLISH);
    FakeBus.Batch run = (FakeBus.Batch) second.content();
    assertThat(run.sequence()).isEqualTo(2);
    assertThat(run.payloads()).hasSize(100).startsWith("more0").endsWith("more99");
    FakeBus.Arrival third = bus.next(TypeCode.PUBLISH);
    FakeBus.Arrival fourth = bus.next(TypeCode.PUBLISH);
    assertThat(third.content()).isEqualTo(new FakeBus.Batch("b", 1, 0, false, List.of("other")));
    assertThat(fourth.content()).isEqualTo(new FakeBus.Batch("a", 102, 0, false, List.of("last")));
    assertThat(List.of(second.message(), third.message(), fourth.message()))
        .containsOnly(first.message() + 1);
  }

  @Test
  void unconfirmedEventsAreSentAgainInOrderAndBeforeNewOnes() throws Exception {
    EventBusClient client = connect();
    bus.confirms = false;
    List<CompletionStage<Published>> stages = new ArrayList<>();
    stages.add(client.publish("a", "one"));
    bus.nextPublish();
    stages.add(client.publish("b", "two"));
    bus.nextPublish();
    stages.add(client.publish("a", "three"));
    bus.nextPublish();
    bus.connection().confirm("b", 1);
    get(stages.get(1));
    bus.connection().end(1006, "");
    stages.add(client.publish("a", "four"));
    assertThat(stages.get(0).toCompletableFuture()).isNotDone();
    bus.confirms = true;
    scheduler.advance(Duration.ofMillis(100));
    assertThat(bus.nextPublish()).isEqualTo(new FakeBus.Batch("a", 1, 0, true, List.of("one")));
    assertThat(bus.nextPublish()).isEqualTo(new FakeBus.Batch("a", 2, 0, true, List.of("three")));
    assertThat(bus.nextPublish()).isEqualTo(new FakeBus.Batch("a", 3, 0, true, List.of("four")));
    assertThat(get(stages.get(3)).sequence()).isEqualTo(3);
    assertThat(get(stages.get(0)).sequence()).isEqualTo(1);
    assertThat(client.counters().resent()).isEqualTo(2);
    assertThat(client.counters().bufferedBytes()).isZero();
  }

  @Test
  void repacksWaitingEventsForTheNextBusLimits() throws Exception {
    EventBusClient client = connect();
    bus.confirms = false;
    String kilobyte = "x".repeat(1_000);
    bus.holdsSends = true;
    client.send("a", "first");
    bus.nextPublish();
    List<CompletionStage<Published>> stages = new ArrayList<>();
    for (int i = 2; i <= 11; i++) {
      stages.add(client.publish("a", kilobyte));
    }
    CompletionStage<Published> tooBig = client.publish("a", "y".repeat(5_000));
    client.send("a", "z".repeat(5_000));
    stages.add(client.publish("a", "last"));
    bus.holdsSends = false;
    bus.confirms = true;
    bus.messageBytes = 4_096;
    bus.connection().end(1006, "");
    scheduler.advance(Duration.ofMillis(100));
    long sequence = 2;
    int message = 0;
    while (sequence <= 11) {
      FakeBus.Arrival arrival = bus.next(TypeCode.PUBLISH);
      assertThat(arrival.message()).isGreaterThan(message);
      message = arrival.message();
      FakeBus.Batch batch = (FakeBus.Batch) arrival.content();
      assertThat(batch.sequence()).isEqualTo(sequence);
      assertThat(batch.payloads()).containsOnly(kilobyte).hasSizeLessThanOrEqualTo(4);
      sequence += batch.payloads().size();
    }
    assertThat(bus.nextPublish()).isEqualTo(new FakeBus.Batch("a", 14, 0, true, List.of("last")));
    for (int i = 0; i < 10; i++) {
      assertThat(get(stages.get(i)).sequence()).isEqualTo(i + 2);
    }
    assertThat(get(stages.get(10)).sequence()).isEqualTo(14);
    assertThat(failure(tooBig)).isInstanceOf(EventBusException.PayloadTooBig.class);
    List<String> calls = new ArrayList<>();
    while (!calls.contains("dropped 1 TOO_BIG")) {
      calls.add(told.next());
    }
    assertThat(client.counters().bufferedBytes()).isZero();
  }

  @Test
  void subscriptionsComeBeforeResentEventsAfterAReconnect() throws Exception {
    EventBusClient client = connect();
    get(client.subscribe("x.>", event -> {}).ready());
    bus.confirms = false;
    CompletionStage<Published> stage = client.publish("a", "one");
    bus.nextPublish();
    bus.connection().end(1006, "");
    bus.confirms = true;
    bus.arrivals.clear();
    scheduler.advance(Duration.ofMillis(100));
    get(stage);
    assertThat(bus.arrivals).extracting(FakeBus.Arrival::type).startsWith(TypeCode.SUBSCRIBE);
  }

  @Test
  void aNewProducerNumberStartsTheSequencesAgain() throws Exception {
    EventBusClient client = connect();
    get(client.publish("a", "one"));
    bus.confirms = false;
    CompletionStage<Published> second = client.publish("a", "two");
    bus.next(TypeCode.PUBLISH);
    bus.nextPublish();
    bus.connection().end(1006, "");
    client.publish("b", "three");
    bus.producer = 99;
    bus.confirms = true;
    scheduler.advance(Duration.ofMillis(100));
    assertThat(bus.nextPublish()).isEqualTo(new FakeBus.Batch("a", 1, 0, true, List.of("two")));
    assertThat(bus.nextPublish()).isEqualTo(new FakeBus.Batch("b", 1, 0, true, List.of("three")));
    assertThat(get(second)).isEqualTo(new Published("a", 99, 1, -1));
    assertThat(get(client.publish("a", "four"))).isEqualTo(new Published("a", 99, 2, -1));
    while (!told.next().equals("producer 77 99")) {
      // Earlier calls of the listener are of no interest; next() has a deadline.
    }
  }

  @Test
  void aNewResumeIsTheOneThatIsGivenFromThenOn() throws Exception {
    EventBusClient client = connect();
    get(client.publish("a", "one"));
    bus.connection().end(1006, "");
    bus.producer = 99;
    scheduler.advance(Duration.ofMillis(100));
    while (!told.next().equals("producer 77 99")) {
      // As above.
    }
    assertThat(bus.hellos.get(1).getResume()).isEqualTo("resume-77");
    assertThat(client.connection().orElseThrow().producer()).isEqualTo(99);
    scheduler.advance(Duration.ofSeconds(5));
    bus.confirms = false;
    CompletionStage<Published> stage = client.publish("a", "two");
    bus.awaitPayload("two");
    bus.connection().end(1006, "");
    bus.confirms = true;
    bus.arrivals.clear();
    scheduler.advance(Duration.ofMillis(100));
    // The number of the second bus is as good as the first was: nothing is numbered again.
    assertThat(get(stage)).isEqualTo(new Published("a", 99, 1, -1));
    assertThat(bus.hellos.get(2).getResume()).isEqualTo("resume-99");
  }

  @Test
  void plainEventsThatHaveArrivedBeforeACloseInOrderAreNotUncertain() throws Exception {
    EventBusClient client = connect();
    client.send("a", "x");
    bus.awaitPayload("x");
    assertThat(client.close(Duration.ofSeconds(10))).isTrue();
    assertThat(client.counters().indeterminate()).isZero();
  }

  @Test
  void plainEventsThatWereUnderWayAreToldAsUncertain() throws Exception {
    EventBusClient client = connect();
    client.send("a", "known");
    get(client.publish("a", "confirmed"));
    client.send("a", "unknown");
    bus.awaitPayload("unknown");
    bus.connection().end(1006, "");
    assertThat(told.next()).startsWith("connected");
    assertThat(told.next()).isEqualTo("dropped 1 CONNECTION_LOST");
    assertThat(client.counters().indeterminate()).isEqualTo(1);
  }

  @Test
  void aRefusedEventFailsItsStage() throws Exception {
    EventBusClient client = connect();
    bus.confirms = false;
    CompletionStage<Published> stage = client.publish("a", "one");
    bus.nextPublish();
    bus.connection()
        .frame(
            TypeCode.PROBLEM,
            new Problem(io.eventbus.schema.ErrorCode.FORBIDDEN, "not here", false, 1L, 1, "a"));
    assertThat(failure(stage))
        .isInstanceOfSatisfying(
            EventBusException.Refused.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.FORBIDDEN));
    assertThat(client.counters().bufferedBytes()).isZero();
  }

  @Test
  void aProblemThatNobodyWaitsForIsTold() throws Exception {
    EventBusClient client = connect();
    client.send("a", "one");
    bus.nextPublish();
    bus.connection()
        .frame(
            TypeCode.PROBLEM,
            new Problem(io.eventbus.schema.ErrorCode.FORBIDDEN, "not here", false, 1L, 1, "a"));
    assertThat(told.next()).startsWith("connected");
    assertThat(told.next()).isEqualTo("problem not here");
  }

  @Test
  void aConfirmationThatDoesNotComeIsATimeOut() throws Exception {
    EventBusClient client = connect(b -> b.confirmTimeout(Duration.ofSeconds(5)));
    bus.confirms = false;
    CompletionStage<Published> stage = client.publish("a", "one");
    bus.nextPublish();
    scheduler.advance(Duration.ofSeconds(4));
    assertThat(stage.toCompletableFuture()).isNotDone();
    scheduler.advance(Duration.ofSeconds(3));
    assertThat(failure(stage)).isInstanceOf(EventBusException.TimedOut.class);
  }

  /** Moves the clock in steps, as the conductor's time goes on, until the stage is complete. */
  private void awaitWhileTimeGoesOn(CompletionStage<?> stage) throws Exception {
    awaitWhileTimeGoesOn(stage, Duration.ofMillis(100));
  }

  /** Waits for a stage; the client's time advances by that step each millisecond. */
  private void awaitWhileTimeGoesOn(CompletionStage<?> stage, Duration step) throws Exception {
    CompletableFuture<?> done = stage.toCompletableFuture();
    until(
        () -> {
          if (!done.isDone()) {
            scheduler.advance(step);
          }
          return done.isDone();
        });
  }

  @Test
  void aDependentMayWaitForAnotherStage() throws Exception {
    EventBusClient client = connect(b -> b.confirmTimeout(Duration.ofHours(1)));
    CompletionStage<Published> inner =
        confirmed(client, "one", done -> join(client.publish("a", "two")));
    awaitWhileTimeGoesOn(inner);
    assertThat(get(inner)).isEqualTo(new Published("a", 77, 2, -1));
    awaitWhileTimeGoesOn(client.publish("b", "three"));
  }

  /** Publishes an event that is confirmed when the dependents of its stage are known. */
  private <T> CompletionStage<T> confirmed(
      EventBusClient client, String payload, Function<Published, T> dependent) throws Exception {
    bus.confirms = false;
    CompletionStage<T> then = client.publish("a", payload).thenApply(dependent);
    bus.awaitPayload(payload);
    bus.confirms = true;
    bus.connection().confirm("a", 1);
    return then;
  }

  private static <T> T join(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }

  @Test
  void deadlinesEndWaitsThoughTheExecutorIsBlocked() throws Exception {
    ExecutorService one = Executors.newSingleThreadExecutor();
    CountDownLatch go = new CountDownLatch(1);
    try {
      EventBusClient client = connect(b -> b.executor(one).confirmTimeout(Duration.ofSeconds(5)));
      CompletionStage<Boolean> blocked = confirmed(client, "one", done -> await(go));
      bus.confirms = false;
      CompletionStage<Published> late = client.publish("a", "two");
      bus.awaitPayload("two");
      awaitWhileTimeGoesOn(late);
      assertThat(failure(late)).isInstanceOf(EventBusException.TimedOut.class);
      assertThat(blocked.toCompletableFuture()).isNotDone();
    } finally {
      go.countDown();
      one.shutdownNow();
    }
  }

  @Test
  void aConfirmationIsToldThoughTheExecutorIsBlocked() throws Exception {
    ExecutorService one = Executors.newSingleThreadExecutor();
    CountDownLatch go = new CountDownLatch(1);
    try {
      EventBusClient client = connect(b -> b.executor(one).confirmTimeout(Duration.ofHours(1)));
      CompletionStage<Boolean> blocked = confirmed(client, "one", done -> await(go));
      CompletionStage<Published> next = client.publish("a", "two");
      // An hour, the time in which an executor may begin, must not end the event's own wait.
      bus.awaitPayload("two");
      until(() -> client.counters().confirmed() == 2);
      awaitWhileTimeGoesOn(next, Duration.ofMinutes(1));
      assertThat(get(next).sequence()).isEqualTo(2);
      assertThat(blocked.toCompletableFuture()).isNotDone();
    } finally {
      go.countDown();
      one.shutdownNow();
    }
  }

  @Test
  void closingCompletesStagesThoughADependentBlocks() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    try {
      EventBusClient client = connect();
      CompletionStage<Boolean> blocked = confirmed(client, "one", done -> await(go));
      bus.confirms = false;
      CompletionStage<Boolean> alsoBlocked =
          client.publish("a", "two").handle((done, failure) -> await(go));
      CompletionStage<Published> sent = client.publish("a", "three");
      bus.awaitPayload("three");
      assertThat(client.close(Duration.ZERO)).isFalse();
      assertThat(failure(sent)).isInstanceOf(EventBusException.ConnectionLost.class);
      assertThat(blocked.toCompletableFuture()).isNotDone();
      assertThat(alsoBlocked.toCompletableFuture()).isNotDone();
    } finally {
      go.countDown();
    }
  }

  private static boolean await(CountDownLatch latch) {
    try {
      return latch.await(60, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  @Test
  void eventsThatCannotBeSentInTimeTimeOutToo() throws Exception {
    EventBusClient client = connect(b -> b.confirmTimeout(Duration.ofSeconds(5)));
    bus.connectFailure = new IllegalStateException("refused");
    bus.connection().end(1006, "");
    CompletionStage<Published> stage = client.publish("a", "one");
    scheduler.advance(Duration.ofSeconds(7));
    assertThat(failure(stage)).isInstanceOf(EventBusException.TimedOut.class);
  }

  @Test
  void illegalTopicsAndEventsThatAreTooBigAreRefusedAtOnce() throws Exception {
    EventBusClient client = connect();
    for (String topic : List.of("", "a..b", "a.*", "$SYS.x", "a b")) {
      assertThatExceptionOfType(EventBusException.IllegalTopic.class)
          .isThrownBy(() -> client.send(topic, "x"));
    }
    assertThatExceptionOfType(EventBusException.PayloadTooBig.class)
        .isThrownBy(() -> client.send("a", new byte[1024 * 1024 + 1]))
        .withMessage("payload: 1048577 (expected: at most 1048576)");
    assertThatExceptionOfType(EventBusException.PayloadTooBig.class)
        .isThrownBy(() -> client.send("a", Event.builder("x").key("k".repeat(4097)).build()));
    assertThat(client.send("a", new byte[1024 * 1024])).isEqualTo(SendResult.ACCEPTED);
    assertThat(bus.nextPublish().payloads().get(0)).hasSize(1024 * 1024);
  }

  @Test
  void aFullBufferFailsOrDropsAsChosen() throws Exception {
    EventBusClient fails =
        connect(b -> b.outboundBufferBytes(4096).whenFull(WhenFull.FAIL).name("fails"));
    bus.connectFailure = new IllegalStateException("refused");
    bus.connection().end(1006, "");
    int accepted = 0;
    while (fails.send("a", new byte[1000]).accepted()) {
      accepted++;
    }
    assertThat(accepted).isEqualTo(4);
    assertThat(fails.send("a", new byte[1000])).isEqualTo(SendResult.FULL);
    assertThat(failure(fails.publish("a", new byte[1000])))
        .isInstanceOf(EventBusException.BufferFull.class)
        .matches(e -> ((EventBusException) e).retryable());
    bus.connectFailure = null;
    EventBusClient drops =
        connect(b -> b.outboundBufferBytes(4096).whenFull(WhenFull.DROP).name("drops"));
    bus.connection().end(1006, "");
    for (int i = 0; i < 7; i++) {
      assertThat(drops.send("a", new byte[1000]))
          .isEqualTo(i < 4 ? SendResult.ACCEPTED : SendResult.DROPPED);
    }
    assertThat(drops.counters().droppedFull()).isEqualTo(3);
  }

  @Test
  void aFullBufferBlocksUntilThereIsRoom() throws Exception {
    EventBusClient client = connect(b -> b.outboundBufferBytes(4096).whenFull(WhenFull.BLOCK));
    bus.confirms = false;
    for (int i = 0; i < 3; i++) {
      client.publish("a", new byte[1000]);
    }
    CompletableFuture<SendResult> blocked =
        CompletableFuture.supplyAsync(() -> client.send("a", new byte[1000]));
    for (int i = 0; i < 3; ) {
      i += bus.nextPublish().payloads().size();
    }
    assertThat(blocked).isNotDone();
    bus.connection().confirm("a", 3);
    assertThat(blocked.get(60, TimeUnit.SECONDS)).isEqualTo(SendResult.ACCEPTED);
  }

  @Test
  void blockingHasADeadline() throws Exception {
    EventBusClient client =
        connect(b -> b.outboundBufferBytes(4096).blockTimeout(Duration.ofMillis(20)));
    bus.connectFailure = new IllegalStateException("refused");
    bus.connection().end(1006, "");
    while (client.send("a", new byte[1000]).accepted()) {}
    assertThat(client.send("a", new byte[1000])).isEqualTo(SendResult.FULL);
  }

  @Test
  void aSendThatHangsEndsTheConnection() throws Exception {
    EventBusClient client = connect(b -> b.sendTimeout(Duration.ofSeconds(1)));
    bus.holdsSends = true;
    CompletionStage<Published> stage = client.publish("a", "one");
    bus.nextPublish();
    assertThat(told.next()).startsWith("connected");
    bus.holdsSends = false;
    scheduler.advance(Duration.ofMillis(900));
    assertThat(told.calls).isEmpty();
    scheduler.advance(Duration.ofMillis(1200));
    assertThat(told.next()).startsWith("disconnected 1006 true");
    get(stage);
  }

  // ---- Flushing and closing

  @Test
  void flushWaitsForTheEchoBehindEverythingPublished() throws Exception {
    EventBusClient client = connect();
    bus.holdsSends = true;
    client.send("a", "one");
    bus.nextPublish();
    client.send("a", "two");
    CompletionStage<Void> flush = client.flushAsync();
    client.send("a", "three");
    assertThat(flush.toCompletableFuture()).isNotDone();
    bus.holdsSends = false;
    bus.connection().releaseSend();
    get(flush);
    assertThat(bus.nextPublish().payloads()).containsExactly("two");
    bus.next(TypeCode.BARRIER);
    assertThat(bus.nextPublish().payloads()).containsExactly("three");
  }

  @Test
  void closingInOrderTellsOfNoLoss() throws Exception {
    EventBusClient client = connect();
    client.send("a", "one");
    assertThat(client.close(Duration.ofSeconds(10))).isTrue();
    assertThat(client.counters().indeterminate()).isZero();
  }

  @Test
  void onlyWhatWasSentAfterAnAnsweredFlushMayBeLost() throws Exception {
    EventBusClient client = connect();
    client.send("a", "one");
    client.send("a", "two");
    bus.answersBarriers = false;
    CompletionStage<Void> flush = client.flushAsync();
    long asked = (Long) bus.next(TypeCode.BARRIER).content();
    client.send("a", "three");
    bus.awaitPayload("three");
    bus.connection().frame(TypeCode.BARRIER, new Barrier(asked));
    get(flush);
    bus.connection().end(1006, "");
    assertThat(told.next()).startsWith("connected");
    assertThat(told.next()).isEqualTo("dropped 1 CONNECTION_LOST");
    assertThat(client.counters().indeterminate()).isEqualTo(1);
  }

  @Test
  void flushIsAskedAgainAfterAReconnect() throws Exception {
    EventBusClient client = connect();
    CompletionStage<Void> flush = blockedFlush(client);
    bus.next(TypeCode.BARRIER);
    bus.connection().end(1006, "");
    bus.answersBarriers = true;
    scheduler.advance(Duration.ofMillis(100));
    get(flush);
  }

  @Test
  void flushHasADeadline() throws Exception {
    EventBusClient client = connect();
    bus.answersBarriers = false;
    assertThatExceptionOfType(EventBusException.TimedOut.class)
        .isThrownBy(() -> client.flush(Duration.ofMillis(20)));
  }

  @Test
  void flushIsAskedAgainWhenTheBusCouldNotAnswerInTime() throws Exception {
    EventBusClient client = connect();
    CompletionStage<Void> flush = blockedFlush(client);
    refuse(bus.next(TypeCode.BARRIER), true);
    assertThat(flush.toCompletableFuture()).isNotDone();
    scheduler.advance(Barriers.RETRY_PAUSE.minusMillis(1));
    assertThat(bus.arrivals).isEmpty();
    scheduler.advance(Duration.ofMillis(1));
    refuse(bus.next(TypeCode.BARRIER), true);
    bus.answersBarriers = true;
    scheduler.advance(Barriers.RETRY_PAUSE);
    get(flush);
    assertThat(told.next()).startsWith("connected");
    assertThat(told.calls).isEmpty();
  }

  @Test
  void flushThatTheBusNeverAnswersInTimeEndsWithItsOwnDeadline() throws Exception {
    EventBusClient client = connect(b -> b.confirmTimeout(Duration.ofSeconds(3)));
    CompletionStage<Void> flush = blockedFlush(client);
    FakeBus.Arrival asked = bus.next(TypeCode.BARRIER);
    for (int i = 0; i < 29; i++) {
      refuse(asked, true);
      scheduler.advance(Barriers.RETRY_PAUSE);
      asked = bus.next(TypeCode.BARRIER);
      assertThat(flush.toCompletableFuture()).isNotDone();
    }
    scheduler.advance(Duration.ofSeconds(2));
    assertThat(failure(flush)).isInstanceOf(EventBusException.TimedOut.class);
    // Nobody is interested any more.
    refuse(asked, true);
    scheduler.advance(Duration.ofSeconds(2));
    assertThat(bus.arrivals).isEmpty();
    assertThat(told.next()).startsWith("connected");
    assertThat(told.calls).isEmpty();
  }

  @Test
  void flushThatTheBusRefusesForGoodFails() throws Exception {
    EventBusClient client = connect();
    CompletionStage<Void> flush = blockedFlush(client);
    refuse(bus.next(TypeCode.BARRIER), false);
    assertThat(failure(flush)).isInstanceOf(EventBusException.Refused.class);
    scheduler.advance(Duration.ofSeconds(1));
    assertThat(bus.arrivals).isEmpty();
  }

  private void refuse(FakeBus.Arrival barrier, boolean retryable) {
    bus.connection()
        .frame(
            TypeCode.PROBLEM,
            new Problem(
                io.eventbus.schema.ErrorCode.OVERLOADED,
                "another bus is slow",
                retryable,
                (Long) barrier.content(),
                TypeCode.BARRIER.code(),
                ""));
  }

  @Test
  void closeSendsWhatIsBuffered() throws Exception {
    EventBusClient client = connect();
    bus.holdsSends = true;
    client.send("a", "one");
    bus.nextPublish();
    CompletionStage<Published> stage = client.publish("a", "two");
    CompletableFuture<Boolean> closed =
        CompletableFuture.supplyAsync(() -> client.close(Duration.ofSeconds(10)));
    while (client.state() == ClientState.CONNECTED) {
      Thread.onSpinWait();
    }
    bus.holdsSends = false;
    bus.connection().releaseSend();
    assertThat(closed.get(60, TimeUnit.SECONDS)).isTrue();
    assertThat(get(stage).sequence()).isEqualTo(2);
    assertThat(client.state()).isEqualTo(ClientState.CLOSED);
    assertThat(bus.closed).isTrue();
  }

  @Test
  void waitingForEverIsAllowed() throws Exception {
    Duration ever = Duration.ofSeconds(Long.MAX_VALUE);
    EventBusClient client = connect();
    EventStream stream = client.stream("a");
    get(stream.subscription().ready());
    bus.connection().message(FakeBus.deliver("a", 5, 1, new long[0], "x"));
    assertThat(stream.poll(ever)).isNotNull();
    stream.close();
    assertThat(stream.poll(ever)).isNull();
    client.flush(ever);
    assertThat(client.close(ever)).isTrue();
  }

  @Test
  void aStreamThatNobodyReadsDoesNotHoldUpTheEnd() throws Exception {
    EventBusClient client = connect();
    EventStream never = client.stream("a");
    EventStream once = client.stream("b");
    get(never.subscription().ready());
    get(once.subscription().ready());
    bus.connection().message(FakeBus.deliver("b", 5, 1, new long[0], "x"));
    assertThat(once.poll(Duration.ofSeconds(10))).isNotNull();
    assertThat(client.close(Duration.ofSeconds(30))).isTrue();
    assertThat(once.poll(Duration.ZERO)).isNull();
  }

  @Test
  void aStreamWithEventsIsWaitedFor() throws Exception {
    EventBusClient client = connect();
    EventStream stream = client.stream("a");
    get(stream.subscription().ready());
    bus.connection().message(FakeBus.deliver("a", 5, 1, new long[0], "x", "y"));
    CompletableFuture<Boolean> closed =
        CompletableFuture.supplyAsync(() -> client.close(Duration.ofSeconds(30)));
    bus.next(TypeCode.UNSUBSCRIBE);
    assertThat(stream.poll(Duration.ofSeconds(10))).isNotNull();
    assertThat(closed).isNotDone();
    assertThat(stream.poll(Duration.ofSeconds(10))).isNotNull();
    assertThat(stream.poll(Duration.ofSeconds(10))).isNull();
    assertThat(get(closed)).isTrue();
  }

  @Test
  void closingAtOnceTellsWhatIsLost() throws Exception {
    EventBusClient client = connect();
    bus.confirms = false;
    CompletionStage<Published> sent = client.publish("a", "one");
    bus.nextPublish();
    bus.connectFailure = new IllegalStateException("refused");
    bus.connection().end(1006, "");
    CompletionStage<Published> unsent = client.publish("a", "two");
    client.send("b", "three");
    assertThat(client.close(Duration.ZERO)).isFalse();
    assertThat(failure(sent)).isInstanceOf(EventBusException.ConnectionLost.class);
    assertThat(failure(unsent)).isInstanceOf(EventBusException.Closed.class);
    List<String> calls = new ArrayList<>();
    while (!calls.contains("dropped 1 CLOSED")) {
      calls.add(told.next());
    }
    assertThat(client.close(Duration.ofSeconds(1))).as("the same again").isFalse();
  }
}
