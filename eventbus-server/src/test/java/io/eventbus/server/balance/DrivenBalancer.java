package io.eventbus.server.balance;

import io.eventbus.link.LinkPeer;
import io.eventbus.link.LinkService;
import io.eventbus.registry.Registry;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.config.BalanceConfig;
import io.eventbus.server.session.Sessions;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/** Balancer of one bus, for a simulation that is its clock and its links. */
public final class DrivenBalancer {
  private final Map<Integer, LinkService> services = new HashMap<>();
  private final String bus;
  private final Balancer balancer;

  /** Link to another bus. */
  @FunctionalInterface
  public interface Way {
    /** Calls as {@code LinkNode.call}. */
    CompletableFuture<byte[]> call(
        InetSocketAddress address, int service, byte[] request, Duration deadline);
  }

  /**
   * Environment of the balancer.
   *
   * @param nanoTime as {@link System#nanoTime}
   */
  public record Stand(
      String bus,
      String zone,
      Registry registry,
      Way way,
      ScheduledExecutorService executor,
      LongSupplier nanoTime,
      RandomGenerator random) {}

  private final Advisories advisories = new Advisories();

  /** Creates a balancer, which does nothing yet. */
  public DrivenBalancer(
      Stand stand, BalanceConfig config, Sessions sessions, LoadSource source, Clock clock) {
    bus = stand.bus();
    PeerQueries calls =
        new PeerQueries() {
          @Override
          public CompletableFuture<byte[]> call(
              InetSocketAddress address,
              String channel,
              int service,
              byte[] request,
              Duration deadline) {
            return stand.way().call(address, service, request, deadline);
          }

          @Override
          public void offer(int number, LinkService service) {
            services.put(number, service);
          }

          @Override
          public void withdraw(int number) {
            services.remove(number);
          }
        };
    balancer =
        new Balancer(
            new Balancer.Place(
                stand.bus(),
                stand.zone(),
                stand.registry(),
                null,
                state -> CompletableFuture.completedFuture(null),
                advisories),
            config,
            sessions,
            source,
            clock,
            new BalancerEnvironment(calls, stand.executor(), stand.nanoTime(), stand.random()));
  }

  /** Returns its advisories. */
  Advisories advisories() {
    return advisories;
  }

  /** Begins to measure and to move. */
  public void start() {
    balancer.start();
  }

  /** Answers another bus's call. */
  public CompletionStage<byte[]> answer(int service, LinkPeer from, byte[] request) {
    LinkService offered = services.get(service);
    if (offered == null) {
      return CompletableFuture.failedFuture(new IllegalStateException("no service " + service));
    }
    return offered.answer(from, request);
  }

  /** Starts to drain. */
  public void drain() {
    var unused = balancer.drain(bus, true, false);
  }

  /** Takes clients again. */
  void serve() {
    var unused = balancer.drain(bus, false, false);
  }

  /** Returns its status. */
  public BalanceStatus status() {
    return balancer.status();
  }
}
