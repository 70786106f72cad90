package io.eventbus.client.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.eventbus.client.ClientBuilder;
import io.eventbus.client.ClientState;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.internal.base.FakeBus;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Authenticate;
import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.ChangeReason;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Problem;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** A client that gets its tokens from the application. Everything runs in the test's thread. */
class TokensTest extends ClientFixture {
  private static final int UNAUTHENTICATED = 4500;
  private static final int EXPIRED = 4004;

  private final List<String> told = new ArrayList<>();
  private final List<EventBusException> problems = new ArrayList<>();
  private int asked;
  private Supplier<CompletionStage<String>> supplier =
      () -> CompletableFuture.completedFuture("token-" + asked);

  private final ConnectionListener listener =
      new ConnectionListener() {
        @Override
        public void problem(EventBusException problem) {
          problems.add(problem);
          told.add(String.valueOf(problem.getMessage()));
        }

        @Override
        public void disconnected(int code, String reason, boolean willReconnect) {
          told.add(code + " " + willReconnect);
        }

        @Override
        public void busChangeFailed(URI url, String why) {
          told.add(url + " " + why);
        }
      };

  @Override
  protected ClientBuilder settings() {
    return super.settings()
        .executor(Runnable::run)
        .listener(listener)
        .tokens(
            () -> {
              asked++;
              return supplier.get();
            });
  }

  private EventBusClient connect(Duration life) throws Exception {
    expireIn(life);
    return connect();
  }

  private void expireIn(Duration life) {
    bus.expiresAt = expiry(life);
  }

  private long expiry(Duration life) {
    return clock.epochMicros() + life.toMillis() * 1000;
  }

  /** Returns the tokens that the bus was shown beside those of Hello. */
  private List<String> shown() {
    List<FakeBus.Arrival> all = new ArrayList<>();
    bus.arrivals.drainTo(all);
    return all.stream()
        .filter(arrival -> arrival.type() == TypeCode.AUTHENTICATE)
        .map(arrival -> ((Authenticate) arrival.content()).getToken())
        .toList();
  }

  private String hello(int number) {
    return Objects.requireNonNull(bus.hellos.get(number).getToken());
  }

  private void confirm(Duration life) {
    bus.connection()
        .frame(
            TypeCode.CONFIRM,
            new Confirm(TypeCode.AUTHENTICATE.code(), expiry(life), "", -1L, 0L, false, 0L));
  }

  private void refuse() {
    bus.connection()
        .frame(
            TypeCode.PROBLEM,
            new Problem(
                ErrorCode.UNAUTHENTICATED,
                "not good",
                false,
                0L,
                TypeCode.AUTHENTICATE.code(),
                ""));
  }

  @Test
  void aTokenIsReplacedBeforeItExpires() throws Exception {
    connect(Duration.ofSeconds(100));
    assertThat(hello(0)).isEqualTo("token-1");
    scheduler.advance(Duration.ofMillis(79_999));
    assertThat(shown()).isEmpty();
    scheduler.advance(Duration.ofMillis(1));
    assertThat(shown()).containsExactly("token-2");
    confirm(Duration.ofSeconds(200));
    scheduler.advance(Duration.ofMillis(159_999));
    assertThat(shown()).isEmpty();
    scheduler.advance(Duration.ofMillis(1));
    assertThat(shown()).containsExactly("token-3");
    assertThat(told).isEmpty();
    assertThat(bus.hellos).hasSize(1);
  }

  @Test
  void aTokenThatDoesNotExpireIsKept() throws Exception {
    connect();
    scheduler.advance(Duration.ofHours(30));
    assertThat(asked).isEqualTo(1);
  }

  @Test
  void aSupplierThatFailsIsAskedAgainLaterEachTime() throws Exception {
    connect(Duration.ofSeconds(100));
    supplier = () -> CompletableFuture.failedFuture(new IllegalStateException("issuer down"));
    scheduler.advance(Duration.ofSeconds(80));
    assertThat(asked).isEqualTo(2);
    scheduler.advance(Duration.ofMillis(999));
    assertThat(asked).isEqualTo(2);
    scheduler.advance(Duration.ofMillis(1));
    assertThat(asked).isEqualTo(3);
    scheduler.advance(Duration.ofSeconds(2));
    assertThat(asked).isEqualTo(4);
    supplier =
        () -> {
          throw new IllegalStateException("thrown");
        };
    scheduler.advance(Duration.ofSeconds(4));
    assertThat(told).hasSize(4);
    assertThat(told.get(0)).contains("supplier of tokens failed").contains("issuer down");
    assertThat(told.get(3)).contains("thrown");
    assertThat(problems)
        .as("the client is connected")
        .hasOnlyElementsOfType(EventBusException.NoToken.class)
        .allMatch(EventBusException::retryable);
    assertThat(shown()).isEmpty();
    supplier = () -> CompletableFuture.completedFuture("good");
    scheduler.advance(Duration.ofSeconds(8));
    assertThat(shown()).containsExactly("good");
  }

  @Test
  void aSupplierThatDoesNotAnswerIsNotWaitedFor() throws Exception {
    connect(Duration.ofSeconds(100));
    CompletableFuture<String> never = new CompletableFuture<>();
    supplier = () -> never;
    scheduler.advance(Duration.ofSeconds(90));
    assertThat(told).hasSize(1);
    assertThat(told.get(0)).contains("gave none within 10s");
    supplier = () -> CompletableFuture.completedFuture("good");
    never.complete("late");
    scheduler.advance(Duration.ofSeconds(1));
    assertThat(shown()).containsExactly("good");
  }

  @Test
  void aTokenThatTheBusRefusesIsReplaced() throws Exception {
    connect(Duration.ofSeconds(100));
    scheduler.advance(Duration.ofSeconds(80));
    assertThat(shown()).containsExactly("token-2");
    refuse();
    assertThat(told).containsExactly("not good");
    scheduler.advance(Duration.ofSeconds(1));
    assertThat(shown()).containsExactly("token-3");
  }

  @Test
  void aBusThatDoesNotAnswerIsAskedAgain() throws Exception {
    connect(Duration.ofSeconds(1000));
    scheduler.advance(Duration.ofSeconds(800));
    assertThat(shown()).containsExactly("token-2");
    scheduler.advance(Duration.ofSeconds(11));
    assertThat(told).containsExactly("no answer to a new token within 10s");
    assertThat(shown()).containsExactly("token-3");
  }

  @Test
  void eachConnectionHasANewToken() throws Exception {
    connect(Duration.ofSeconds(100));
    bus.connection().end(EXPIRED, "expired");
    scheduler.advance(Duration.ofMillis(100));
    assertThat(hello(1)).isEqualTo("token-2");
    scheduler.advance(Duration.ofSeconds(70));
    assertThat(shown()).as("that of the first connection has no timer any more").isEmpty();
  }

  @Test
  void aClientWithoutATokenTriesLaterToReconnect() throws Exception {
    EventBusClient client = connect(Duration.ofSeconds(100));
    supplier = () -> CompletableFuture.completedFuture("");
    bus.connection().end(1006, "gone");
    scheduler.advance(Duration.ofMillis(100));
    assertThat(bus.hellos).hasSize(1);
    assertThat(told).hasSize(2);
    assertThat(told.get(1)).contains("one of 0 bytes (expected: 1 to 16384 bytes)");
    assertThat(client.state()).isEqualTo(ClientState.RECONNECTING);
    supplier = () -> CompletableFuture.completedFuture("good");
    scheduler.advance(Duration.ofMillis(200));
    assertThat(hello(1)).isEqualTo("good");
    assertThat(client.state()).isEqualTo(ClientState.CONNECTED);
  }

  @Test
  void withoutAFirstTokenThereIsNoClient() {
    supplier = () -> CompletableFuture.failedFuture(new IllegalStateException("issuer down"));
    assertThatExceptionOfType(java.util.concurrent.ExecutionException.class)
        .isThrownBy(this::connect)
        .havingCause()
        .isInstanceOf(EventBusException.NoToken.class)
        .withMessageContaining("issuer down");
    assertThat(bus.attempts).isEmpty();
  }

  @Test
  void aRefusedClientAsksOnceForAnotherToken() throws Exception {
    EventBusClient client = connect(Duration.ofSeconds(100));
    scheduler.advance(Duration.ofSeconds(6));
    bus.connection().end(UNAUTHENTICATED, "revoked");
    assertThat(told).containsExactly("4500 true");
    bus.silent = true;
    scheduler.advance(Duration.ofMillis(100));
    bus.connection().open();
    assertThat(hello(1)).isEqualTo("token-2");
    bus.connection().end(UNAUTHENTICATED, "revoked");
    scheduler.advance(Duration.ofMinutes(1));
    assertThat(bus.hellos).hasSize(2);
    assertThat(client.state()).isEqualTo(ClientState.CLOSED);
  }

  @Test
  void theFirstConnectionIsTriedWithTwoTokens() {
    bus.silent = true;
    CompletableFuture<EventBusClient> client = start(settings -> settings);
    bus.connection().open();
    bus.connection().end(UNAUTHENTICATED, "wrong");
    bus.connection().open();
    assertThat(hello(1)).isEqualTo("token-2");
    assertThat(client).isNotDone();
    bus.connection().end(UNAUTHENTICATED, "wrong");
    assertThat(client).isCompletedExceptionally();
    assertThat(asked).isEqualTo(2);
  }

  private void askToMove() {
    bus.connection(1)
        .frame(
            TypeCode.CHANGE_BUS,
            new ChangeBus(List.of("ws://two/bus"), ChangeReason.DRAIN, 30_000L, "move", 1));
  }

  @Test
  void aMoveHasANewToken() throws Exception {
    connect(Duration.ofSeconds(100));
    askToMove();
    assertThat(hello(1)).isEqualTo("token-2");
    assertThat(bus.hellos.get(1).getChange()).isEqualTo("move");
  }

  @Test
  void withoutATokenTheClientStays() throws Exception {
    EventBusClient client = connect(Duration.ofSeconds(100));
    supplier = () -> CompletableFuture.failedFuture(new IllegalStateException("issuer down"));
    askToMove();
    assertThat(told).hasSize(1);
    assertThat(told.get(0)).startsWith("ws://two/bus ").contains("issuer down");
    assertThat(bus.next(TypeCode.CHANGE_BUS_FAILED)).isNotNull();
    assertThat(client.state()).isEqualTo(ClientState.CONNECTED);
  }

  @Test
  void aMoveEndsWithItsConnection() throws Exception {
    connect(Duration.ofSeconds(100));
    CompletableFuture<String> later = new CompletableFuture<>();
    supplier = () -> later;
    askToMove();
    bus.connection().end(1006, "gone");
    later.complete("late");
    assertThat(bus.hellos).hasSize(1);
  }

  @Test
  void aTokenAndASupplierAreNotGivenTogether() {
    assertThat(
            EventBusClient.builder()
                .url("ws://one/bus")
                .tokens(() -> CompletableFuture.completedFuture("a"))
                .token("s3cret")
                .options()
                .tokens())
        .isNull();
    assertThat(
            EventBusClient.builder()
                .url("ws://one/bus")
                .credentials("alice", "s3cret")
                .tokens(() -> CompletableFuture.completedFuture("a"))
                .options())
        .satisfies(options -> assertThat(options.token()).isNull())
        .satisfies(options -> assertThat(options.user()).isNull());
  }
}
