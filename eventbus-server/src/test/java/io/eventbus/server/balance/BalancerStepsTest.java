package io.eventbus.server.balance;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.link.LinkPeer;
import io.eventbus.registry.local.LocalRegistry;
import io.eventbus.registry.local.LocalRegistryOptions;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.balance.decision.LoadFigures;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.session.ResumeKey;
import io.eventbus.server.session.Sessions;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Interval of balancing's steps: long while no client has to move. */
class BalancerStepsTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final EmbeddedChannel time = new EmbeddedChannel();
  private long nanos;
  private int measured;
  private double load = 0.25;
  private @Nullable Error error;
  private final DrivenBalancer balancer =
      new DrivenBalancer(
          new DrivenBalancer.Stand(
              "a",
              "default",
              new LocalRegistry(LocalRegistryOptions.DEFAULT, Clock.systemUTC()),
              (address, service, request, deadline) -> new CompletableFuture<>(),
              time.eventLoop(),
              () -> nanos,
              new SplittableRandom(1)),
          ServerConfig.defaults().balance(),
          new Sessions("a", Clock.systemUTC(), List::of, ResumeKey.ofThisRun(), () -> nanos),
          () -> {
            measured++;
            if (error != null) {
              throw error;
            }
            return new LoadFigures(load, 0, 0, 0, 0);
          },
          Clock.systemUTC());

  @BeforeEach
  void start() {
    time.freezeTime();
    balancer.start();
    pass(Duration.ofMillis(50));
  }

  private int pass(Duration span) {
    int wakes = 0;
    long left = span.toNanos();
    time.runPendingTasks();
    while (true) {
      long next = time.runScheduledPendingTasks();
      boolean due = next >= 0 && next <= left;
      long step = due ? next : left;
      nanos += step;
      time.advanceTimeBy(step, TimeUnit.NANOSECONDS);
      time.runPendingTasks();
      if (!due) {
        return wakes;
      }
      left -= step;
      wakes++;
    }
  }

  @Test
  void aBusThatMovesNobodyOnlyMeasures() {
    assertThat(measured).as("at once").isEqualTo(1);
    assertThat(pass(SECOND.multipliedBy(10))).isEqualTo(20);
    assertThat(measured).isEqualTo(21);
  }

  @Test
  void aBusThatDrainsBeginsAtOnceWhateverTheNextMeasureIs() {
    List<Advisory> told = new ArrayList<>();
    balancer.advisories().listen(told::add);
    balancer.drain();
    balancer.drain();
    assertThat(pass(Duration.ofMillis(100))).isPositive();
    assertThat(balancer.status().draining()).isTrue();
    assertThat(pass(SECOND)).as("steps, and every 20 ms the next clients").isBetween(50, 60);
    balancer.serve();
    pass(SECOND);
    assertThat(pass(SECOND)).isEqualTo(2);
    assertThat(balancer.status().draining()).isFalse();
    assertThat(told)
        .containsExactly(new Advisory.DrainChanged(true), new Advisory.DrainChanged(false));
  }

  @Test
  void aStepThatFailsForWantOfMemoryIsFollowedByTheNext() {
    error = new OutOfMemoryError("Cannot reserve 1 bytes of direct buffer memory");
    pass(SECOND.multipliedBy(5));
    assertThat(measured).isEqualTo(11);
    error = new StackOverflowError();
    pass(SECOND);
    assertThat(measured).isEqualTo(13);
    error = null;
    load = 0.75;
    pass(SECOND.multipliedBy(5));
    assertThat(balancer.status().load()).isGreaterThan(0.5);
  }

  @Test
  void theLoadIsMeasuredTwiceASecondWhileTheBusDrains() {
    balancer.drain();
    pass(SECOND);
    int before = measured;
    pass(SECOND.multipliedBy(10));
    assertThat(measured - before).isEqualTo(20);
  }

  @Test
  void anotherBusIsToldTheLoadWithoutWaitingForTheBalanceThread() {
    load = 0.75;
    pass(SECOND);
    byte[] own = new BalanceMessages.Load(0.5, 3, false, false).encode();
    CompletableFuture<byte[]> answer =
        balancer
            .answer(BalanceMessages.LOAD, new LinkPeer("", "", "b", 1, "balance"), own)
            .toCompletableFuture();
    assertThat(answer).isCompleted();
    assertThat(BalanceMessages.Load.decode(answer.join()).load())
        .isEqualTo(balancer.status().load())
        .isBetween(0.3, 0.75);
  }
}
