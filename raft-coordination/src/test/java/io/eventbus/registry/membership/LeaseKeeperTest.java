package io.eventbus.registry.membership;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.BusAddresses;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.ListenerRegistration;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.local.LocalRegistry;
import io.eventbus.registry.local.LocalRegistryOptions;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A keeper and a real registry; the lease is short, and nothing depends on how short. */
@Timeout(60)
class LeaseKeeperTest {
  private static final BusId BUS = new BusId("bus-a");
  private static final Duration LEASE = Duration.ofMillis(150);
  private static final Duration DEADLINE = Duration.ofSeconds(20);

  private final LocalRegistry registry =
      new LocalRegistry(LocalRegistryOptions.DEFAULT, Clock.systemUTC());
  private final BlockingQueue<CommandResult.BusRegistered> lives = new LinkedBlockingQueue<>();
  private final LeaseKeeper keeper = keeper(true);

  LeaseKeeperTest() throws Exception {
    await(registry.start());
  }

  @AfterEach
  void close() {
    keeper.close();
    registry.close();
  }

  private LeaseKeeper keeper(boolean ownsId) {
    return new LeaseKeeper(
        registry,
        new BusDescription(
            BUS,
            new BusAddresses(List.of("ws://127.0.0.1:8080/bus"), null, null, null),
            "default",
            "1.0",
            1),
        LEASE,
        ownsId,
        lives::add);
  }

  private static <T> T await(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(30, TimeUnit.SECONDS);
  }

  /** Waits for a snapshot that the registry tells of. */
  private RegistrySnapshot until(Predicate<BusInfo> condition) throws Exception {
    CompletableFuture<RegistrySnapshot> seen = new CompletableFuture<>();
    ListenerRegistration registration =
        registry.addListener(
            (snapshot, changes) -> {
              BusInfo info = snapshot.bus(BUS);
              if (info != null && condition.test(info)) {
                seen.complete(snapshot);
              }
            });
    try {
      return await(seen);
    } finally {
      registration.close();
    }
  }

  private BusInfo info() {
    BusInfo info = registry.snapshot().bus(BUS);
    assertThat(info).isNotNull();
    return info;
  }

  @Test
  void itRegistersAndRenewsWithoutEnd() throws Exception {
    await(keeper.start());
    assertThat(info().state()).isEqualTo(BusState.JOINING);
    assertThat(lives.take().number()).isEqualTo(info().number());
    long expires = info().lease().expiresAtMillis();
    until(bus -> bus.lease().expiresAtMillis() > expires + 3 * LEASE.toMillis());
    assertThat(keeper.age()).isLessThan(DEADLINE);
    assertThat(lives).isEmpty();
  }

  @Test
  void itGoesThroughTheStates() throws Exception {
    await(keeper.start());
    await(keeper.become(BusState.UP));
    assertThat(info().state()).isEqualTo(BusState.UP);
    await(keeper.become(BusState.DRAINING));
    assertThat(info().state()).isEqualTo(BusState.DRAINING);
    await(keeper.become(BusState.UP));
    assertThat(info().state()).isEqualTo(BusState.UP);
  }

  @Test
  void fromJoiningToDrainingTheWayLeadsOverUp() throws Exception {
    await(keeper.become(BusState.DRAINING));
    assertThat(info().state()).isEqualTo(BusState.DRAINING);
  }

  @Test
  void aBusThatWasTakenDownBeginsANewLifeInTheSameState() throws Exception {
    await(keeper.become(BusState.UP));
    BusInfo first = info();
    await(registry.submit(new BusCommand.ChangeState(BUS, first.epoch(), BusState.DOWN), DEADLINE));
    until(bus -> bus.epoch() > first.epoch() && bus.state() == BusState.UP);
    assertThat(info().number()).isNotEqualTo(first.number());
    assertThat(lives).hasSize(2);
  }

  @Test
  void aBusThatWentDownByItselfStaysDown() throws Exception {
    await(keeper.become(BusState.UP));
    await(keeper.become(BusState.DOWN));
    long version = registry.snapshot().version();
    // Long enough for many renewals, had there been any.
    CompletableFuture<Void> later = new CompletableFuture<>();
    later.completeOnTimeout(null, 5 * LEASE.toMillis(), TimeUnit.MILLISECONDS);
    await(later);
    assertThat(registry.snapshot().version()).isEqualTo(version);
    assertThat(info().state()).isEqualTo(BusState.DOWN);
  }

  @Test
  void anIdThatSomebodyElseHoldsIsWaitedForUnlessItIsItsOwn() throws Exception {
    // The local registry lets no lease run out by itself, so it is in use until it is DOWN.
    await(
        registry.submit(
            new BusCommand.Register(
                new BusDescription(
                    BUS,
                    new BusAddresses(List.of("ws://127.0.0.1:1/bus"), null, null, null),
                    "default",
                    "1.0",
                    1),
                0,
                Duration.ofHours(1).toMillis()),
            DEADLINE));
    BusInfo first = info();
    try (LeaseKeeper stranger = keeper(false)) {
      CompletionStage<Void> registered = stranger.start();
      long version = registry.snapshot().version();
      until(bus -> registry.snapshot().version() > version + 2);
      assertThat(registered.toCompletableFuture()).isNotDone();
      assertThat(info().epoch()).isEqualTo(first.epoch());
    }
    await(keeper.start());
    assertThat(info().epoch()).isGreaterThan(first.epoch());
  }
}
