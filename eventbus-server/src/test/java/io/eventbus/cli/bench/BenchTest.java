package io.eventbus.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.client.Overflow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class BenchTest {
  private static final Duration STALLED = Duration.ofMillis(100);
  private static final BenchPlan PLAN =
      new BenchPlan(2, 32, 2_000, Duration.ZERO, Duration.ofMillis(200), 50, Overflow.DROP_OLDEST);

  private final MemoryClients clients = new MemoryClients();

  private BenchResult run() throws InterruptedException {
    try (Bench bench = new Bench(clients, PLAN, (m, s, p, d) -> {}, STALLED)) {
      return bench.run();
    }
  }

  /** Applies a fault to every tenth event. */
  private void everyTenth(Function<byte[], List<byte[]>> fault) {
    int[] count = new int[1];
    clients.path = payload -> ++count[0] % 10 == 0 ? fault.apply(payload) : List.of(payload);
  }

  @Test
  void eventsOnceAndInOrderAreWhole() throws Exception {
    BenchResult result = run();
    assertThat(result.whole()).isTrue();
    assertThat(result.sent()).isEqualTo(400);
    assertThat(result.published()).isEqualTo(400);
    assertThat(result.latencyMicros().count()).isEqualTo(800);
    assertThat(clients.topics).hasSize(1);
  }

  @Test
  void lostEventsAreCounted() throws Exception {
    everyTenth(payload -> List.of());
    BenchResult result = run();
    assertThat(result.whole()).isFalse();
    assertThat(result.lost()).isEqualTo(80);
    assertThat(result.doubled() + result.reordered() + result.foreign()).isZero();
  }

  @Test
  void doubledEventsAreCounted() throws Exception {
    everyTenth(payload -> List.of(payload, payload));
    BenchResult result = run();
    assertThat(result.whole()).isFalse();
    assertThat(result.doubled()).isEqualTo(80);
    assertThat(result.lost() + result.reordered() + result.foreign()).isZero();
  }

  @Test
  void lateEventsAreCounted() throws Exception {
    List<byte[]> held = new ArrayList<>();
    int[] count = new int[1];
    clients.path =
        payload -> {
          if (++count[0] % 10 == 5) {
            held.add(payload);
            return List.of();
          }
          List<byte[]> now = new ArrayList<>(List.of(payload));
          now.addAll(held);
          held.clear();
          return now;
        };
    BenchResult result = run();
    assertThat(result.reordered()).isEqualTo(80);
    assertThat(result.lost() + result.doubled() + result.foreign()).isZero();
  }

  @Test
  void foreignEventsAreCounted() throws Exception {
    everyTenth(payload -> List.of(payload, new byte[5]));
    BenchResult result = run();
    assertThat(result.foreign()).isEqualTo(80);
    assertThat(result.lost() + result.doubled() + result.reordered()).isZero();
  }

  @Test
  void aBusThatConfirmsNothingIsTold() {
    clients.confirmation = new CompletableFuture<>();
    assertThatThrownBy(this::run)
        .isInstanceOf(BenchException.class)
        .hasMessage("no event was confirmed for 100 ms");
  }

  @Test
  void anEventThatIsRefusedIsTold() {
    clients.confirmation = CompletableFuture.failedFuture(new IllegalStateException("full"));
    assertThatThrownBy(this::run)
        .isInstanceOf(BenchException.class)
        .hasMessage("an event was not published")
        .hasRootCauseMessage("full");
  }

  @Test
  void aConnectionThatIsLostForGoodEndsIt() {
    try (Bench bench = new Bench(clients, PLAN, (m, s, p, d) -> {}, STALLED)) {
      bench.fail("gone");
      assertThatThrownBy(bench::run).isInstanceOf(BenchException.class).hasMessage("gone");
    }
    assertThat(clients.closed).isEqualTo(3);
  }

  @Test
  void eventsAreDueEvenly() {
    assertThat(Bench.due(0, 3)).isZero();
    assertThat(Bench.due(1, 3)).isEqualTo(333_333_333);
    assertThat(Bench.due(3, 3)).isEqualTo(1_000_000_000);
    // An hour of ten million a second.
    assertThat(Bench.due(36_000_000_000L, 10_000_000)).isEqualTo(3_600_000_000_000L);
  }

  @Test
  void aPlanHasRoomForWhatIsUsual() {
    assertThat(BenchPlan.usualInFlight(128)).isEqualTo(1_000);
    assertThat(BenchPlan.usualInFlight(1 << 20)).isEqualTo(16);
  }
}
