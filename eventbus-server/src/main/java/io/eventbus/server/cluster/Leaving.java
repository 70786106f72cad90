package io.eventbus.server.cluster;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.membership.LeaseKeeper;
import io.eventbus.registry.ratis.ClusterStatus;
import io.eventbus.registry.ratis.RatisRegistry;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of a bus in its cluster: DRAINING, then the leadership goes to another voter and the vote
 * to a bus that has none, then DOWN. A thread of its own waits; without a leader there is nothing
 * to wait for.
 */
final class Leaving {
  private static final Logger LOG = LoggerFactory.getLogger(Leaving.class);
  private static final long LOOK_MILLIS = 20;

  private final RatisRegistry registry;
  private final LeaseKeeper keeper;
  private final String bus;
  private final Duration longest;
  private final Thread thread = new Thread(this::handOver, "cluster-leaving");
  private volatile boolean told;

  Leaving(RatisRegistry registry, LeaseKeeper keeper, String bus, Duration longest) {
    this.registry = registry;
    this.keeper = keeper;
    this.bus = bus;
    this.longest = longest;
  }

  void begin() {
    if (!longest.isZero() && registry.status().leader() != null) {
      thread.setDaemon(true);
      thread.start();
    }
  }

  private void handOver() {
    long end = System.nanoTime() + longest.toNanos();
    try {
      told = await(keeper.become(BusState.DRAINING), end);
      ClusterStatus status = registry.status();
      if (told && status.role() == ClusterStatus.Role.LEADER) {
        String successor = successor(status);
        if (successor != null) {
          await(registry.transferLeadership(successor, left(end)), end);
        }
      }
      // The new leader gives the vote of a bus that drains to one that is UP and has none.
      while (told && holdsWhatOthersCanTake() && System.nanoTime() < end) {
        TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private @Nullable String successor(ClusterStatus status) {
    for (String voter : status.voters()) {
      if (!voter.equals(bus) && isUp(voter)) {
        return voter;
      }
    }
    return null;
  }

  private boolean holdsWhatOthersCanTake() {
    ClusterStatus status = registry.status();
    boolean votes =
        status.role() == ClusterStatus.Role.VOTER || status.role() == ClusterStatus.Role.LEADER;
    return votes && status.listeners().stream().anyMatch(this::isUp);
  }

  private boolean isUp(String id) {
    BusInfo info = registry.snapshot().bus(new BusId(id));
    return info != null && info.state() == BusState.UP;
  }

  /** Waits for the hand-over, tells the others that this bus is gone, and returns. */
  void finish() {
    long end = System.nanoTime() + longest.toNanos();
    try {
      thread.join(Math.max(1, longest.toMillis()));
      thread.interrupt();
      if (told && registry.status().leader() != null) {
        await(keeper.become(BusState.DOWN), end);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static Duration left(long end) {
    return Duration.ofNanos(Math.max(1_000_000, end - System.nanoTime()));
  }

  private static boolean await(CompletionStage<?> stage, long end) throws InterruptedException {
    try {
      stage.toCompletableFuture().get(left(end).toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (ExecutionException | TimeoutException e) {
      LOG.info("The cluster did not take over everything that this bus holds: {}", e.toString());
      return false;
    }
  }
}
