package io.eventbus.loadtest.attack.honest;

import io.eventbus.loadtest.attack.wire.BusAddress;
import io.eventbus.loadtest.attack.wire.WireCounts;
import io.eventbus.loadtest.attack.wire.Wires;
import io.eventbus.loadtest.driver.DriverException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * All honest pairs and callers of one attack, the large pair where there is one, and the control.
 * For one thread.
 */
public final class HonestPairs implements AutoCloseable {
  private static final int PER_SECOND = 200;
  private static final int BYTES = 200;
  private static final int KEPT_BYTES = BYTES + 250;
  private static final int CALLS_PER_SECOND = 50;
  private static final int CALL_BYTES = 128;
  private static final int BULK_BYTES = 20_000;
  private static final int CONNECT_SECONDS = 60;
  private static final int LOOPS = 2;

  private final Phases phases = new Phases();
  private final Phases durablePhases = new Phases();
  private final Phases callPhases = new Phases();
  private final Phases controlPhases = new Phases();
  private final Wires wires;
  private final List<Pair> pairs = new ArrayList<>();
  private final List<HonestCaller> callers = new ArrayList<>();
  private final @Nullable Pair bulk;
  private long bulkReceived;
  private long bulkSince = System.nanoTime();

  private HonestPairs(BusAddress bus, int count, boolean durable, int bulkBytesPerSecond) {
    this.wires = new Wires(bus, LOOPS, 0, new WireCounts());
    long origin = System.nanoTime() - 1;
    for (int i = 0; i < count; i++) {
      pairs.add(new Pair(i, false, PER_SECOND, BYTES, phases, origin));
      if (durable) {
        pairs.add(new Pair(i, true, PER_SECOND, BYTES, durablePhases, origin));
      }
      callers.add(new HonestCaller(i, CALLS_PER_SECOND, CALL_BYTES, callPhases));
    }
    // Its latency is that of its own queue: what it says is how much gets through.
    bulk =
        bulkBytesPerSecond == 0
            ? null
            : new Pair(
                count, false, bulkBytesPerSecond / BULK_BYTES, BULK_BYTES, new Phases(), origin);
  }

  /**
   * Connects pairs and has them publish.
   *
   * @param bus where to
   * @param durable whether there are as many pairs with a durable topic
   * @param bulkBytesPerSecond of one more, 0 for none
   * @param controlPort where another process sends back what comes
   * @throws InterruptedException if the thread is interrupted
   */
  public static HonestPairs start(
      BusAddress bus, int count, boolean durable, int bulkBytesPerSecond, int controlPort)
      throws InterruptedException {
    HonestPairs honest = new HonestPairs(bus, count, durable, bulkBytesPerSecond);
    try {
      for (Pair pair : honest.all()) {
        pair.connect(honest.wires).get(CONNECT_SECONDS, TimeUnit.SECONDS);
      }
      for (HonestCaller caller : honest.callers) {
        caller.connect(honest.wires).get(CONNECT_SECONDS, TimeUnit.SECONDS);
      }
    } catch (ExecutionException | TimeoutException e) {
      honest.close();
      throw new DriverException("the honest cannot connect to " + bus + ": " + e, e);
    }
    honest.all().forEach(Pair::start);
    honest.callers.forEach(HonestCaller::start);
    honest.wires.openTcp(controlPort, new Control(PER_SECOND, honest.controlPhases));
    return honest;
  }

  private List<Pair> all() {
    List<Pair> all = new ArrayList<>(pairs);
    if (bulk != null) {
      all.add(bulk);
    }
    return all;
  }

  /** Begins a phase, for all of them at the same moment. */
  public void begin(Phase phase) {
    long now = System.nanoTime();
    for (Phases each : List.of(phases, durablePhases, callPhases, controlPhases)) {
      switch (phase) {
        case QUIET -> each.quiet(now);
        case ATTACK -> each.attack(now);
        case RECOVERY -> each.recovery(now);
        case END -> each.end(now);
      }
    }
  }

  /** The phases of an experiment, in their order. */
  public enum Phase {
    /** The quiet phase. */
    QUIET,
    /** The attack. */
    ATTACK,
    /** The recovery. */
    RECOVERY,
    /** Nothing counts any more. */
    END
  }

  /**
   * Measures the large pair.
   *
   * @return bytes per second since the last call, 0 without one
   */
  public double bulkRate() {
    if (bulk == null) {
      return 0;
    }
    long now = System.nanoTime();
    long received = bulk.outcome().received();
    double rate = (received - bulkReceived) * (double) BULK_BYTES * 1e9 / (now - bulkSince);
    bulkReceived = received;
    bulkSince = now;
    return rate;
  }

  /**
   * Returns what the bus keeps of the durable topics for their consumers, at most: it counts, and
   * stays.
   *
   * @return bytes
   */
  public long keptBytes() {
    return pairs.stream().filter(Pair::isDurable).mapToLong(p -> p.outcome().sent()).sum()
        * KEPT_BYTES;
  }

  /**
   * Stops publishing and waits for what is on its way.
   *
   * @throws InterruptedException if the thread is interrupted
   */
  public void stop(Duration timeout) throws InterruptedException {
    all().forEach(Pair::stop);
    callers.forEach(HonestCaller::stop);
    long end = System.nanoTime() + timeout.toNanos();
    // An event that was sent at this moment is counted a moment later.
    Thread.sleep(50);
    while (System.nanoTime() < end && !complete()) {
      Thread.sleep(20);
    }
  }

  private boolean complete() {
    return all().stream().allMatch(p -> p.complete() || !p.outcome().closed().isEmpty())
        && callers.stream().allMatch(HonestCaller::complete);
  }

  /**
   * Returns what they came to.
   *
   * @param bulkQuiet what {@link #bulkRate} gave before the attack
   */
  public HonestOutcome outcome(double bulkQuiet, double bulkAttack) {
    PairOutcome events =
        all().stream().map(Pair::outcome).reduce(PairOutcome.NOTHING, PairOutcome::plus);
    return new HonestOutcome(
        events,
        phases.quietLatency(),
        phases.attackLatency(),
        phases.afterLatency(),
        Timings.of(durablePhases),
        bulkQuiet,
        bulkAttack,
        callers.stream().map(HonestCaller::outcome).reduce(CallOutcome.NOTHING, CallOutcome::plus),
        Timings.of(callPhases),
        Timings.of(controlPhases));
  }

  @Override
  public void close() {
    wires.close();
  }
}
