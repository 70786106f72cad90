package io.eventbus.loadtest.switching.run;

import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.Fault;
import io.eventbus.loadtest.run.Integrity;
import io.eventbus.loadtest.run.ParallelConnecting;
import io.eventbus.loadtest.run.Spread;
import io.eventbus.loadtest.switching.Buses;
import io.eventbus.loadtest.switching.Client;
import io.eventbus.loadtest.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The clients of an experiment at work: publishers that send evenly, each to a topic of its own,
 * and subscribers that get one topic or all. For one thread.
 */
final class MovingCrowd {
  private static final Duration NO_PROGRESS = Duration.ofSeconds(5);
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final Buses buses;
  private final SwitchPlan plan;
  private final MoveLatencies latencies;
  private final long origin = System.nanoTime() - 1;
  private final List<Source> sources = new ArrayList<>();
  private final List<MovingMember> members = new ArrayList<>();
  private final List<MovingMember> gone = new ArrayList<>();
  private int names;

  MovingCrowd(Buses buses, SwitchPlan plan, MoveLatencies latencies) {
    this.buses = buses;
    this.plan = plan;
    this.latencies = latencies;
  }

  /**
   * Connects everybody and lets events flow.
   *
   * @param busOf where the client of a number connects; publishers and subscribers each from 0
   */
  void begin(int publishers, int subscribers, IntUnaryOperator busOf, int perSecond, boolean all)
      throws InterruptedException {
    members.addAll(
        ParallelConnecting.all(
            subscribers,
            s -> {
              int topic = s % publishers;
              String filter = all && publishers > 1 ? "load.>" : Workload.topic(topic);
              IntPredicate gets = all ? p -> true : p -> p == topic;
              return subscribe("subscriber-" + s, busOf.applyAsInt(s), filter, gets, false);
            }));
    for (int p = 0; p < publishers; p++) {
      Client client = buses.connect("publisher-" + p, busOf.applyAsInt(p));
      sources.add(new Source(p, client, origin, plan.payloadBytes(), perSecond));
    }
    sources.forEach(Source::start);
  }

  private MovingMember subscribe(
      String name, int bus, String filter, IntPredicate gets, boolean late) {
    Watch watch = new Watch(System::nanoTime, origin, plan.payloadBytes(), late, latencies);
    @Nullable Fault fault = plan.fault();
    Driver.Receiver receiver = fault == null ? watch : fault.on(watch);
    Client client = buses.connect(name, bus);
    client.subscribe(filter, receiver);
    return new MovingMember(client, watch, gets);
  }

  /**
   * Has a new client take the place of the only subscriber; events that went before count as seen.
   */
  void replaceSubscriber() {
    MovingMember before = members.remove(0);
    MovingMember next =
        subscribe(
            "subscriber-" + ++names + "-again",
            before.client().bus(),
            Workload.topic(0),
            before.gets(),
            true);
    members.add(next);
    // Its missing events are counted; from here on the other one gets everything.
    before.client().close();
    gone.add(before);
  }

  /** Has a new client publish in the place of the only publisher. */
  void replacePublisher() {
    Source source = sources.get(0);
    source.replace(buses.connect("publisher-" + ++names + "-again", source.client().bus()));
  }

  List<Source> sources() {
    return sources;
  }

  List<MovingMember> members() {
    return members;
  }

  /** Returns all clients, those that publish and those that subscribe. */
  List<Client> clients() {
    return Stream.concat(
            sources.stream().map(Source::client), members.stream().map(MovingMember::client))
        .toList();
  }

  /** Returns the interval at which each publisher sends. */
  long intervalNanos() {
    return sources.get(0).intervalNanos();
  }

  /** Lets events flow for a time. */
  void flow(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(Math.min(left, TimeUnit.MILLISECONDS.toNanos(20)));
      sources.forEach(Source::check);
    }
  }

  /** Begins a window of time for all subscribers. */
  void window(MoveLatencies.Phase phase) {
    latencies.enter(phase);
    members.forEach(member -> member.watch().begin());
  }

  /** Returns the pause of each subscriber since the window began, in milliseconds. */
  List<Double> pauses() {
    return members.stream().map(member -> pauseNanos(member) / (double) Spread.MILLI).toList();
  }

  /** Returns the pause of one subscriber since the window began. */
  long pauseNanos(MovingMember member) {
    return member.watch().pause(member.gets(), sources.size(), intervalNanos());
  }

  /**
   * Waits for something.
   *
   * @throws DriverException if it does not come about
   */
  void await(BooleanSupplier condition, Duration timeout, Supplier<String> problem) {
    long end = System.nanoTime() + timeout.toNanos();
    while (!condition.getAsBoolean()) {
      sources.forEach(Source::check);
      if (System.nanoTime() - end > 0) {
        throw new DriverException(
            problem.get() + " after " + TimeUnit.NANOSECONDS.toMillis(timeout.toNanos()) + " ms");
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /** Stops the publishers, waits until everything has arrived, and gives the verdict on all. */
  Integrity end() throws InterruptedException {
    latencies.enter(MoveLatencies.Phase.NONE);
    for (Source source : sources) {
      source.stop();
    }
    long min = Long.MAX_VALUE;
    long deadline = System.nanoTime() + NO_PROGRESS.toNanos();
    while (tail() > 0 && System.nanoTime() < deadline) {
      long now = tail();
      if (now < min) {
        min = now;
        deadline = System.nanoTime() + NO_PROGRESS.toNanos();
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
    Integrity sum = new Integrity(tail(), 0, 0, 0);
    for (MovingMember member : members) {
      sum = sum.plus(member.watch().integrity(member.gets()));
    }
    for (MovingMember member : gone) {
      sum = sum.plus(member.watch().integrity(member.gets()));
    }
    return sum;
  }

  /** Returns the number of events that all subscribers have received. */
  long received() {
    return Stream.concat(members.stream(), gone.stream())
        .mapToLong(member -> member.watch().received())
        .sum();
  }

  private long tail() {
    return members.stream()
        .mapToLong(m -> m.watch().tail(m.gets(), p -> sources.get(p).sent(), sources.size()))
        .sum();
  }
}
