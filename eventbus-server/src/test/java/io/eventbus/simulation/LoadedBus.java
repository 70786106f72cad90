package io.eventbus.simulation;

import io.eventbus.link.LinkPeer;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.server.balance.BalanceStatus;
import io.eventbus.server.balance.DrivenBalancer;
import io.eventbus.server.balance.decision.LoadFigures;
import io.eventbus.server.config.BalanceConfig;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.delivery.LoopBarrier;
import io.eventbus.server.delivery.Loops;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.routing.RemoteForwarder;
import io.eventbus.server.routing.Router;
import io.eventbus.server.samples.SampleCalls;
import io.eventbus.server.samples.TestAccess;
import io.eventbus.server.session.BusContext;
import io.eventbus.server.session.LoopContext;
import io.eventbus.server.session.Sessions;
import io.eventbus.server.session.TestResumes;
import io.eventbus.server.session.WorkBudget;
import io.eventbus.server.stats.BusCounters;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * Bus whose load is that of its clients: sessions, balancer, planner, reservations and tokens are
 * the real ones, and each client is one that could be connected.
 */
final class LoadedBus {
  private static final long MEMORY_BYTES = 1L << 30;

  private final int number;
  private final SimulatedLoop loop;
  private final Sessions sessions;
  private final LoopContext context;
  private final DrivenBalancer balancer;
  // Demand of its clients, as a share of its capacity.
  private double asked;

  LoadedBus(
      Simulator simulator,
      Clock clock,
      int number,
      RegistrySnapshot registry,
      DrivenBalancer.Way way,
      BalanceConfig config) {
    this.number = number;
    this.loop = new SimulatedLoop(simulator);
    String name = SimulatedBus.name(number);
    this.sessions = new Sessions(name, clock, List::of, TestResumes.KEY, simulator::now);
    this.context = context(simulator, name, clock);
    this.balancer =
        new DrivenBalancer(
            new DrivenBalancer.Stand(
                name,
                "default",
                new BusRegistry(registry),
                way,
                loop,
                simulator::now,
                simulator.random(number)),
            config,
            sessions,
            // A bus cannot exceed its capacity, and cannot see the demand beyond it.
            () -> new LoadFigures(Math.min(1, asked), 0, 0, 0, 0),
            clock);
  }

  private LoopContext context(Simulator simulator, String name, Clock clock) {
    SubscriptionIndex index = new SubscriptionIndex(1);
    BusMemory memory = new BusMemory(MEMORY_BYTES);
    BusCounters counters = new BusCounters(1);
    Loops loops =
        new Loops() {
          @Override
          public int count() {
            return 1;
          }

          @Override
          public Executor executor(int which) {
            return loop;
          }

          @Override
          public void handOver(int which) {}
        };
    BusContext bus =
        new BusContext(
            name,
            ServerConfig.defaults().limits(),
            index,
            memory,
            sessions,
            TestAccess.open(),
            new LoopBarrier(loops),
            counters,
            clock);
    Router router =
        new Router(
            0,
            loops,
            index,
            UnpooledByteBufAllocator.DEFAULT,
            memory,
            counters.loops().get(0),
            RemoteForwarder.NONE,
            () -> {});
    return new LoopContext(
        bus,
        router,
        counters.loops().get(0),
        UnpooledByteBufAllocator.DEFAULT,
        SampleCalls.calls(loops, memory, counters.loops().get(0).calls),
        new WorkBudget(simulator::now));
  }

  void start() {
    loop.perform(balancer::start);
  }

  /** Starts to drain. */
  void drain() {
    loop.perform(balancer::drain);
  }

  /** Returns the status of balancing. */
  BalanceStatus status() {
    return balancer.status();
  }

  /** Returns the number of connected clients. */
  int size() {
    return sessions.size();
  }

  int number() {
    return number;
  }

  SimulatedLoop loop() {
    return loop;
  }

  LoopContext context() {
    return context;
  }

  /** Changes the demand of a client. */
  void ask(double load) {
    asked += load;
  }

  /** Returns the demand of its clients, as a share of its capacity. */
  double asked() {
    return asked;
  }

  /** Returns the load as the bus sees it. */
  double load() {
    return balancer.status().load();
  }

  boolean isOverloaded() {
    return balancer.status().overloaded();
  }

  CompletionStage<byte[]> answer(int service, LinkPeer from, byte[] request) {
    return balancer.answer(service, from, request);
  }
}
