package io.eventbus.server.cluster;

import io.eventbus.registry.BusState;
import io.eventbus.registry.Departure;
import io.eventbus.registry.DepartureReport;
import io.eventbus.registry.membership.LeaseKeeper;
import io.eventbus.registry.ratis.RatisRegistry;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Orderly end of the bus in its cluster: DRAINING, then the leadership goes to another voter and
 * the vote to a bus that has none, then DOWN. A bus that leaves for good is removed at the end
 * instead. Without a leader there is nothing to wait for. Used by one thread.
 */
final class GracefulLeave {
  private static final Logger LOG = LoggerFactory.getLogger(GracefulLeave.class);

  private final RatisRegistry registry;
  private final LeaseKeeper keeper;
  private final Departure departure;
  private final Duration timeout;
  private @Nullable CompletableFuture<DepartureReport> handedOver;

  GracefulLeave(RatisRegistry registry, LeaseKeeper keeper, Departure departure, Duration timeout) {
    this.registry = registry;
    this.keeper = keeper;
    this.departure = departure;
    this.timeout = timeout;
  }

  void begin() {
    if (!timeout.isZero() && registry.status().leader() != null) {
      handedOver =
          keeper
              .become(BusState.DRAINING)
              .thenCompose(told -> registry.administration().leave(Departure.STOP, timeout))
              .toCompletableFuture();
    }
  }

  /** Waits for the hand-over, tells the others that this bus is gone, and returns. */
  void finish() {
    CompletableFuture<DepartureReport> begun = handedOver;
    if (begun == null) {
      return;
    }
    long end = System.nanoTime() + timeout.toNanos();
    DepartureReport report = await(begun, end);
    if (departure == Departure.FOR_GOOD) {
      beForgotten();
      return;
    }
    if (report != null && (report.leads() || report.votes())) {
      LOG.info(
          "This bus still {} in its cluster: {}",
          report.leads() ? "leads" : "votes",
          report.detail());
    }
    if (report != null && registry.status().leader() != null) {
      await(keeper.become(BusState.DOWN), end);
    }
  }

  private void beForgotten() {
    // A renewal of the lease would register the bus again.
    keeper.close();
    DepartureReport report =
        await(
            registry.administration().leave(Departure.FOR_GOOD, timeout),
            System.nanoTime() + 2 * timeout.toNanos());
    if (report == null || report.member()) {
      LOG.warn(
          "This bus is still a member of its cluster, and has to be removed: {}",
          report == null ? "no answer" : report.detail());
    } else {
      LOG.info("This bus has left its cluster for good");
    }
  }

  private static <T> @Nullable T await(CompletionStage<T> stage, long end) {
    try {
      long left = Math.max(1_000_000, end - System.nanoTime());
      return stage.toCompletableFuture().get(left, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      LOG.info("This bus left its cluster without being heard: {}", e.toString());
    }
    return null;
  }
}
