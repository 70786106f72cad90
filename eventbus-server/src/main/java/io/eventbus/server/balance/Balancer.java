package io.eventbus.server.balance;

import io.eventbus.base.RefusedMemory;
import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkPeer;
import io.eventbus.registry.BusState;
import io.eventbus.registry.Registry;
import io.eventbus.schema.ChangeReason;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.balance.decision.ClientLoad;
import io.eventbus.server.balance.decision.LoadMeasure;
import io.eventbus.server.balance.decision.MoveHistory;
import io.eventbus.server.balance.decision.MovePlanner;
import io.eventbus.server.balance.decision.MoveTarget;
import io.eventbus.server.balance.decision.Reservations;
import io.eventbus.server.config.BalanceConfig;
import io.eventbus.server.session.Session;
import io.eventbus.server.session.Sessions;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Balancer that keeps a bus from being overloaded, and empties it before it ends: measures its
 * load, tells it to the peers, and moves clients. It works on a thread of its own; any thread may
 * call its methods.
 *
 * <p>It is one class because it alone knows the thread: it brings its steps, requests of peers and
 * those of operators onto it. The work is in the classes that it puts together.
 */
public final class Balancer implements BalanceView, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Balancer.class);

  /** Interval between checks of clients that were asked to move. */
  private static final long STEP_NANOS = Duration.ofMillis(100).toNanos();

  /**
   * Interval between measurements of the load, which are told to the peers; without moves in
   * progress, that is all.
   */
  private static final long MEASURE_NANOS = Duration.ofMillis(500).toNanos();

  /** Interval between the requests of a bus that empties itself: a few clients each time. */
  private static final long EMPTYING_MILLIS = 20;

  private static final Duration SMOOTHING = Duration.ofSeconds(2);
  private static final Duration REFUSAL_PAUSE = Duration.ofSeconds(2);
  private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(2);
  private static final long POLL_NANOS = 10_000_000;

  private final Place place;
  private final BalanceConfig config;
  private final Sessions sessions;
  private final LoadSource source;
  private final LoadMeasure measure = new LoadMeasure(SMOOTHING);
  private final LoadExchange loads;
  private final MovePlanner planner;
  private final ClientLoads clients;
  private final ReservationService reservationService;
  private final MoveExecutor moves;
  private final @Nullable PeerQueries calls;
  private final ScheduledExecutorService executor;
  private final LongSupplier nanoTime;
  private @Nullable Future<?> nextStep;
  private long nextStepAt;
  private long measureAt;
  private double underWay;
  private boolean emptying;
  private volatile boolean draining;
  private volatile boolean forGood;
  private volatile BalanceStatus status = new BalanceStatus(0, false, false, 0, 0, 0, 0, 0, 0);

  /**
   * Place of the bus in its cluster.
   *
   * @param links links to the peers; null for a bus that serves alone
   */
  public record Place(
      String bus,
      String zone,
      Registry registry,
      @Nullable LinkNode links,
      Function<BusState, CompletionStage<Void>> announce,
      Advisories advisories) {}

  /**
   * Creates a balancer; {@link #start} begins.
   *
   * @param place place of the bus in its cluster
   */
  public Balancer(
      Place place, BalanceConfig config, Sessions sessions, LoadSource source, Clock clock) {
    this(place, config, sessions, source, clock, BalancerEnvironment.real(place.links()));
  }

  Balancer(
      Place place,
      BalanceConfig config,
      Sessions sessions,
      LoadSource source,
      Clock clock,
      BalancerEnvironment environment) {
    this.place = place;
    this.config = config;
    this.sessions = sessions;
    this.source = source;
    this.calls = environment.calls();
    this.executor = environment.executor();
    this.nanoTime = environment.nanoTime();
    this.loads = new LoadExchange(place.bus(), place.registry(), calls, nanoTime);
    this.planner =
        new MovePlanner(
            new MovePlanner.Settings(
                config.high(),
                config.low(),
                config.overloadAfter(),
                SMOOTHING,
                config.movesPerSecond(),
                REFUSAL_PAUSE),
            place.zone(),
            environment.random());
    MoveHistory history = new MoveHistory(config.coolDown(), config.maxMovesPerMinute());
    this.clients = new ClientLoads(sessions, clock, history);
    this.reservationService =
        new ReservationService(
            new Reservations(config.low(), config.high(), SMOOTHING.multipliedBy(2)),
            sessions.tokens());
    this.moves =
        new MoveExecutor(
            sessions,
            clock,
            loads,
            calls,
            planner,
            history,
            config,
            executor,
            nanoTime,
            place.advisories());
  }

  /** Begins to measure and to move. */
  public void start() {
    PeerQueries node = calls;
    if (node != null) {
      node.offer(BalanceMessages.LOAD, this::onLoad);
      node.offer(BalanceMessages.RESERVE, this::onReserve);
      node.offer(BalanceMessages.DRAIN, this::onDrain);
    }
    executor.execute(
        () -> {
          measureAt = nanoTime.getAsLong();
          guardedStep();
        });
  }

  private void guardedStep() {
    try {
      guarded(this::step);
    } finally {
      long now = nanoTime.getAsLong();
      stepAt(isBusy() ? Math.min(measureAt, now + STEP_NANOS) : measureAt, now);
    }
  }

  /** Returns whether there is more to do than to measure. */
  private boolean isBusy() {
    return draining || moves.isUnderWay();
  }

  /**
   * Schedules a step soon, because something may have begun that needs one; on the balance thread.
   */
  private void stepSoon() {
    long now = nanoTime.getAsLong();
    if (isBusy() && nextStep != null && nextStepAt - now > STEP_NANOS) {
      stepAt(now + STEP_NANOS, now);
    }
  }

  private void stepAt(long nanos, long now) {
    Future<?> before = nextStep;
    if (before != null) {
      before.cancel(false);
    }
    nextStepAt = nanos;
    nextStep = executor.schedule(this::guardedStep, Math.max(0, nanos - now), TimeUnit.NANOSECONDS);
  }

  private static void guarded(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      // The next step may succeed; without steps nothing would be balanced any more. Memory that
      // is refused to a call is one reason, and occurs again.
      if (RefusedMemory.isRefused(e)) {
        LOG.warn("a step of balancing failed: {}", e.toString());
      } else {
        LOG.error("a step of balancing failed", e);
      }
    }
  }

  private void step() {
    long now = nanoTime.getAsLong();
    boolean measures = now - measureAt >= 0;
    if (measures) {
      measureAt = now + MEASURE_NANOS;
      measure.add(source.read().highest(), now);
      underWay = moves.underWay(now);
      loads.exchange(
          new BalanceMessages.Load(
              measure.load(), sessions.size(), planner.isOverloaded(), draining));
    }
    moves.onStep(now);
    if (draining && !emptying) {
      emptying = true;
      emptyStep();
    } else if (!draining && measures) {
      relieve(now);
    }
    status =
        new BalanceStatus(
            measure.load(),
            planner.isOverloaded(),
            draining,
            moves.moving(),
            moves.moved(),
            moves.stayed(),
            moves.expired(),
            reservationService.granted(),
            reservationService.refused());
  }

  private BalanceMessages.Load own(BalanceStatus now) {
    return new BalanceMessages.Load(now.load(), sessions.size(), now.overloaded(), draining);
  }

  private void relieve(long now) {
    if (moves.isAsking()) {
      return;
    }
    boolean before = planner.isOverloaded();
    double load = measure.load();
    List<MovePlanner.Plan> plans =
        planner.relieve(
            new MovePlanner.Fullness(load, measure.recent(), underWay),
            () -> clients.read(load, false, now),
            config.enabled() ? loads.targets(now) : List.of(),
            now);
    if (planner.isOverloaded() != before) {
      LOG.info(
          "This bus is {} overloaded: load {}", before ? "not any more" : "now", percent(load));
    }
    for (MovePlanner.Plan plan : plans) {
      var unused = carryOut(plan, ChangeReason.OVERLOAD);
    }
  }

  private static String percent(double load) {
    return Math.round(load * 100) + " %";
  }

  private void emptyStep() {
    emptying = draining;
    if (draining) {
      try {
        guarded(() -> empty(nanoTime.getAsLong()));
      } finally {
        var unused = executor.schedule(this::emptyStep, EMPTYING_MILLIS, TimeUnit.MILLISECONDS);
      }
    }
  }

  private void empty(long now) {
    if (moves.isAsking()) {
      return;
    }
    List<ClientLoad> next = moves.leaving(measure.load(), now);
    planner
        .empty(next, loads.targets(now), now)
        .ifPresent(
            plan -> {
              var unused = carryOut(plan, ChangeReason.DRAIN);
            });
  }

  private CompletableFuture<Integer> carryOut(MovePlanner.Plan plan, ChangeReason reason) {
    CompletableFuture<Integer> asked = moves.carryOut(plan, reason, measure.load());
    stepSoon();
    return asked;
  }

  // ---- What other buses ask, on the threads of links

  private CompletionStage<byte[]> onLoad(LinkPeer peer, byte[] request) {
    loads.onLoad(peer, request);
    // State at the last step, without waking the balance thread.
    return CompletableFuture.completedFuture(own(status).encode());
  }

  private CompletionStage<byte[]> onReserve(LinkPeer peer, byte[] request) {
    BalanceMessages.Reserve asked = BalanceMessages.Reserve.decode(request);
    return onBalanceThread(
        () -> {
          boolean open = !draining && !planner.isOverloaded();
          // Newly arrived clients may do more than their old bus could do for them. If clients
          // have to move somewhere, a moment does not count.
          double load =
              asked.leaving() ? measure.load() : Math.max(measure.load(), measure.recent());
          BalanceMessages.Granted granted =
              reservationService.reserve(
                  peer.bus(), asked, open, load, loads.ownUrls(), nanoTime.getAsLong());
          return granted.encode();
        });
  }

  private CompletionStage<byte[]> onDrain(LinkPeer peer, byte[] request) {
    BalanceMessages.Drain order = BalanceMessages.Drain.decode(request);
    LOG.info("Bus {} passes on: {}", peer.bus(), order.on() ? "drain" : "take clients again");
    return drainHere(order).thenApply(done -> new byte[0]);
  }

  private <T> CompletableFuture<T> onBalanceThread(Supplier<T> task) {
    CompletableFuture<T> result = new CompletableFuture<>();
    executor.execute(
        () -> {
          try {
            result.complete(task.get());
          } catch (RuntimeException | Error e) {
            result.completeExceptionally(e);
          }
        });
    return result;
  }

  // ---- What operators ask

  @Override
  public BalanceStatus status() {
    return status;
  }

  @Override
  public List<BusLoad> buses() {
    return loads.all(own(status), nanoTime.getAsLong());
  }

  /** Returns whether this bus leaves its cluster for good when it ends. */
  public boolean leavesForGood() {
    return forGood;
  }

  /** Returns whether this bus moves its clients away. */
  public boolean isDraining() {
    return draining;
  }

  @Override
  public CompletionStage<Void> drain(String bus, boolean on, boolean forGood) {
    BalanceMessages.Drain order = new BalanceMessages.Drain(on, on && forGood);
    if (bus.equals(place.bus())) {
      return drainHere(order);
    }
    InetSocketAddress address;
    try {
      address = loads.address(bus);
    } catch (IllegalArgumentException e) {
      return CompletableFuture.failedFuture(e);
    }
    PeerQueries node = calls;
    if (address == null || node == null) {
      return CompletableFuture.failedFuture(
          new IllegalArgumentException("bus: \"" + bus + "\" (expected: a bus of this cluster)"));
    }
    return node.ask(address, BalanceMessages.DRAIN, order.encode(), DRAIN_TIMEOUT)
        .thenAccept(done -> {});
  }

  private void setDraining(boolean on) {
    boolean changed = draining != on;
    draining = on;
    if (changed) {
      place.advisories().tell(new Advisory.DrainChanged(on));
    }
  }

  private CompletionStage<Void> drainHere(BalanceMessages.Drain order) {
    boolean on = order.on();
    if (calls == null) {
      return CompletableFuture.failedFuture(
          new IllegalStateException("this bus serves alone: its clients can go nowhere"));
    }
    LOG.info(
        "This bus {}{}",
        on ? "drains: its clients go to others" : "takes clients again",
        order.forGood() ? "; when it ends, it leaves its cluster for good" : "");
    forGood = order.forGood();
    setDraining(on);
    executor.execute(this::stepSoon);
    // The drain begins here, whether the registry can be told at once or not.
    var unused = place.announce().apply(on ? BusState.DRAINING : BusState.UP);
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public CompletionStage<String> move(long connection, String bus) {
    return onBalanceThread(() -> plan(connection, bus))
        .thenComposeAsync(
            plan ->
                carryOut(plan, ChangeReason.OPERATOR)
                    .thenApply(
                        asked -> {
                          if (asked == 0) {
                            throw new IllegalStateException(
                                "bus " + plan.target().bus() + " does not take the client");
                          }
                          return plan.target().bus();
                        }),
            // Plans and their execution are confined to it.
            executor);
  }

  private MovePlanner.Plan plan(long connection, String bus) {
    long now = nanoTime.getAsLong();
    Session session = sessions.find(connection);
    if (session == null) {
      throw new IllegalArgumentException(
          "connection: " + connection + " (expected: an open connection of this bus)");
    }
    double share = measure.load() / Math.max(1, sessions.size());
    ClientLoad client = moves.client(session, share, true, now);
    MoveTarget target =
        loads.targets(now).stream()
            .filter(n -> bus.isEmpty() || n.bus().equals(bus))
            .min(Comparator.comparingDouble(MoveTarget::load))
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "to: \""
                            + bus
                            + "\" (expected: another bus that is UP, not draining and not"
                            + " overloaded)"));
    return new MovePlanner.Plan(target, List.of(client));
  }

  // ---- The end

  /**
   * Moves all clients to other buses, as far as that is possible in time, before the bus ends.
   * Blocks; returns at once if there is no other bus.
   */
  public int empty(Duration timeout) {
    setDraining(true);
    executor.execute(this::stepSoon);
    long end = System.nanoTime() + timeout.toNanos();
    int before = sessions.size();
    while (sessions.size() > 0 && loads.areThere() && System.nanoTime() - end < 0) {
      LockSupport.parkNanos(POLL_NANOS);
      if (Thread.interrupted()) {
        Thread.currentThread().interrupt();
        break;
      }
    }
    int left = sessions.size();
    if (before > 0) {
      LOG.info("{} of {} clients are left on this bus", left, before);
    }
    return left;
  }

  @Override
  public void close() {
    PeerQueries node = calls;
    if (node != null) {
      node.withdraw(BalanceMessages.LOAD);
      node.withdraw(BalanceMessages.RESERVE);
      node.withdraw(BalanceMessages.DRAIN);
    }
    executor.shutdownNow();
  }
}
