package io.eventbus.registry.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.registry.BusAddresses;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.ListenerRegistration;
import io.eventbus.registry.Registry;
import io.eventbus.registry.RegistryClosedException;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.RegistryTimeoutException;
import io.eventbus.registry.local.LocalRegistry;
import io.eventbus.registry.local.LocalRegistryOptions;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Clock;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Keeper and a real registry; the lease is short, and nothing depends on how short. */
@Timeout(240)
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

  /** Registry whose answer to some commands is lost after they were applied. */
  private final class Forgetful implements InvocationHandler {
    private final Predicate<RegistryCommand> loses;
    private final Queue<CommandId> ids = new ConcurrentLinkedQueue<>();
    private int left;

    Forgetful(int times, Predicate<RegistryCommand> loses) {
      this.left = times;
      this.loses = loses;
    }

    private Registry asRegistry() {
      return (Registry)
          Proxy.newProxyInstance(
              Registry.class.getClassLoader(), new Class<?>[] {Registry.class}, this);
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
        throws Throwable {
      Object answer = method.invoke(registry, arguments);
      if (method.getName().equals("submit")
          && arguments != null
          && arguments[0] instanceof CommandId id
          && arguments[1] instanceof RegistryCommand command
          && loses.test(command)) {
        ids.add(id);
        if (left-- > 0 && answer instanceof CompletionStage<?> stage) {
          return stage.thenCompose(
              result ->
                  CompletableFuture.failedFuture(new RegistryTimeoutException("no answer", true)));
        }
      }
      return answer;
    }
  }

  @Test
  void aChangeOfStateWhoseAnswerIsLostIsRepeatedWithItsId() throws Exception {
    Forgetful forgetful = new Forgetful(2, BusCommand.ChangeState.class::isInstance);
    try (LeaseKeeper patient = keeper(forgetful.asRegistry(), true)) {
      await(patient.become(BusState.UP));
      assertThat(info().state()).isEqualTo(BusState.UP);
      assertThat(lives).as("one life only").hasSize(1);
      assertThat(forgetful.ids).hasSize(3);
      assertThat(new HashSet<>(forgetful.ids)).hasSize(1);
    }
  }

  @Test
  void aRegistrationWhoseAnswerIsLostBeginsOneLife() throws Exception {
    Forgetful forgetful = new Forgetful(2, BusCommand.Register.class::isInstance);
    try (LeaseKeeper patient = keeper(forgetful.asRegistry(), false)) {
      await(patient.become(BusState.UP));
      assertThat(lives).hasSize(1);
      assertThat(lives.element().number()).isEqualTo(info().number());
      assertThat(new HashSet<>(forgetful.ids)).hasSize(1);
    }
  }

  @Test
  void aRenewalWhoseAnswerIsLostIsMadeAnew() throws Exception {
    Forgetful forgetful = new Forgetful(1, BusCommand.RenewLease.class::isInstance);
    try (LeaseKeeper patient = keeper(forgetful.asRegistry(), true)) {
      await(patient.start());
      long expires = info().lease().expiresAtMillis();
      until(bus -> bus.lease().expiresAtMillis() > expires + 3 * LEASE.toMillis());
      assertThat(forgetful.ids).doesNotHaveDuplicates();
    }
  }

  @Test
  void closingEndsWaitingStages() {
    // The registry answers nothing.
    Registry silent =
        (Registry)
            Proxy.newProxyInstance(
                Registry.class.getClassLoader(),
                new Class<?>[] {Registry.class},
                (proxy, method, arguments) ->
                    method.getName().equals("submit")
                        ? new CompletableFuture<>()
                        : method.invoke(registry, arguments));
    LeaseKeeper closed = keeper(silent, false);
    CompletionStage<Void> before = closed.become(BusState.UP);
    closed.close();
    CompletionStage<Void> after = closed.become(BusState.DOWN);
    for (CompletionStage<Void> each : List.of(before, after)) {
      assertThatThrownBy(() -> await(each)).hasRootCauseInstanceOf(RegistryClosedException.class);
    }
  }

  @Test
  void aStateThatTheBusIsInAlreadyIsNoNewLife() throws Exception {
    await(keeper.start());
    BusInfo first = info();
    // An operator was faster.
    await(registry.submit(new BusCommand.ChangeState(BUS, first.epoch(), BusState.UP), DEADLINE));
    await(keeper.become(BusState.UP));
    assertThat(info().epoch()).isEqualTo(first.epoch());
    assertThat(info().state()).isEqualTo(BusState.UP);
    await(keeper.become(BusState.DRAINING));
    assertThat(info().state()).isEqualTo(BusState.DRAINING);
    assertThat(lives).hasSize(1);
  }

  private LeaseKeeper keeper(boolean ownsId) {
    return keeper(registry, ownsId);
  }

  private LeaseKeeper keeper(Registry to, boolean ownsId) {
    return new LeaseKeeper(
        to,
        new BusDescription(
            BUS,
            new BusAddresses(List.of("ws://127.0.0.1:8080/bus"), null, null, null),
            "default",
            "1.0",
            1,
            0),
        LEASE,
        ownsId,
        lives::add);
  }

  private static <T> T await(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  /** Waits for a snapshot that the registry reports. */
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
  void registersAndRenewsWithoutEnd() throws Exception {
    await(keeper.start());
    assertThat(info().state()).isEqualTo(BusState.JOINING);
    assertThat(lives.take().number()).isEqualTo(info().number());
    long expires = info().lease().expiresAtMillis();
    until(bus -> bus.lease().expiresAtMillis() > expires + 3 * LEASE.toMillis());
    assertThat(keeper.age()).isLessThan(DEADLINE);
    assertThat(lives).isEmpty();
  }

  @Test
  void passesThroughTheStates() throws Exception {
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
    // The local registry lets no lease run out by itself, so the id is in use until the bus is
    // DOWN.
    await(
        registry.submit(
            new BusCommand.Register(
                new BusDescription(
                    BUS,
                    new BusAddresses(List.of("ws://127.0.0.1:1/bus"), null, null, null),
                    "default",
                    "1.0",
                    1,
                    0),
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
