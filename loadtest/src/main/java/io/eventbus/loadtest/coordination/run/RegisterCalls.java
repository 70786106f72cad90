package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.CoordinationCluster;
import io.eventbus.loadtest.coordination.CoordinationException;
import io.eventbus.loadtest.driver.DriverCalls;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.Outages;
import io.eventbus.loadtest.run.Integrity;
import io.eventbus.loadtest.workload.Registers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Clients that write registers in closed loops, with a thread for each command in flight. Failed
 * attempts are repeated. After each run every register is read: an acknowledged write that the
 * system does not hold has failed, one that it holds twice is doubled.
 */
final class RegisterCalls implements DriverCalls {
  private static final Duration REPEAT_TIMEOUT = Duration.ofSeconds(60);
  private static final Duration END = Duration.ofSeconds(20);
  private static final Duration KILL_STEP = Duration.ofMillis(500);
  private static final long RETRY_MILLIS = 100;
  private static final int LISTS = 100;
  private static final double MILLI = 1e6;

  private final CoordinationCluster cluster;
  private final Registers registers;
  private final List<CoordinationClient> clients = new ArrayList<>();
  private final List<Slot> slots = new ArrayList<>();
  private final List<Supplier<Integrity>> checks = new ArrayList<>();
  private final RegisterLoop.Step step;
  private final List<Integer> killed = new CopyOnWriteArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private List<RegisterLoop> loops = List.of();
  private RegisterLoop.MeasuredPart measured = new RegisterLoop.MeasuredPart();
  private @Nullable Thread killer;
  private volatile @Nullable RuntimeException killFailure;
  private long calledBefore;
  private long answeredBefore;
  private long termBefore = -1;
  private Integrity integrity = Integrity.WHOLE;
  private @Nullable Outages outages;

  /** Connects the clients and creates their registers. */
  RegisterCalls(CoordinationCluster cluster, Registers registers, int payloadBytes) {
    this.cluster = cluster;
    this.registers = registers;
    for (int c = 0; c < registers.clients(); c++) {
      CoordinationClient client = cluster.connect(c, registers.placement());
      clients.add(client);
      for (int s = 0; s < registers.inFlight(); s++) {
        Slot slot = new Slot(client, "register-" + c + "-" + s, payloadBytes);
        repeat(slot::create);
        slots.add(slot);
        checks.add(slot::check);
      }
    }
    if (registers.operation() == Registers.Operation.TRANSACTION) {
      SubscriptionLists lists = new SubscriptionLists(LISTS);
      for (int i = 0; i < LISTS; i++) {
        int list = i;
        repeat(
            () -> {
              lists.create(client(), list);
              return list;
            });
        checks.add(() -> lists.check(client(), list));
      }
      this.step = lists::step;
    } else {
      this.step = RegisterCalls::write;
    }
  }

  private static void write(Slot slot, RegisterLoop loop) {
    slot.client().write(slot.next());
    slot.acknowledged();
  }

  /** Returns the first of the clients. */
  CoordinationClient client() {
    return clients.get(0);
  }

  @Override
  public List<Long> clientPids() {
    return List.of(ProcessHandle.current().pid());
  }

  @Override
  public void start() {
    measured = new RegisterLoop.MeasuredPart();
    loops = slots.stream().map(slot -> new RegisterLoop(slot, step, measured)).toList();
    threads.clear();
    for (RegisterLoop loop : loops) {
      Thread thread = new Thread(loop, "client-" + threads.size());
      thread.setDaemon(true);
      threads.add(thread);
      thread.start();
    }
  }

  @Override
  public void measure() {
    termBefore = cluster.term();
    long begin = System.nanoTime();
    measured.begin(begin);
    if (!registers.kills().isEmpty()) {
      killer = new Thread(() -> kill(begin), "killer");
      killer.setDaemon(true);
      killer.start();
    }
  }

  private void kill(long begin) {
    try {
      for (Registers.Victim victim : registers.kills()) {
        long at = begin + (killed.size() + 1) * KILL_STEP.toNanos();
        TimeUnit.NANOSECONDS.sleep(at - System.nanoTime());
        int server = choose(victim);
        killed.add(server);
        cluster.kill(server);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      killFailure = e;
    }
  }

  private int choose(Registers.Victim victim) {
    int leader = cluster.leader();
    if (leader < 0) {
      throw new CoordinationException("leader", "none is known at the moment of the kill");
    }
    return victim == Registers.Victim.LEADER
        ? leader
        : IntStream.range(0, cluster.servers())
            .filter(server -> server != leader && !killed.contains(server))
            .findFirst()
            .orElseThrow(() -> new CoordinationException("follower", "none runs"));
  }

  @Override
  public Counts counts() {
    return new Counts(
        calledBefore + loops.stream().mapToLong(RegisterLoop::called).sum(),
        answeredBefore + loops.stream().mapToLong(RegisterLoop::answered).sum(),
        integrity.lost(),
        integrity.doubled(),
        integrity.foreign(),
        integrity.whole() ? "" : "acknowledged writes that the system does not hold");
  }

  @Override
  public Histogram stop() {
    long end = System.nanoTime();
    long gap = measured.end(end);
    loops.forEach(RegisterLoop::stop);
    join();
    long term = cluster.term();
    Histogram nanos = new Histogram(3);
    Map<String, Long> errors = new TreeMap<>();
    for (RegisterLoop loop : loops) {
      nanos.add(loop.nanos());
      loop.errors().forEach((kind, count) -> errors.merge(kind, count, Long::sum));
    }
    outages =
        new Outages(
            gap / MILLI,
            loops.stream().mapToLong(loop -> loop.longestNanos(end)).max().orElse(0) / MILLI,
            loops.stream().mapToLong(RegisterLoop::late).sum(),
            loops.stream().mapToLong(RegisterLoop::conflicts).sum(),
            term < 0 || termBefore < 0 ? -1 : term - termBefore,
            errors);
    calledBefore += loops.stream().mapToLong(RegisterLoop::called).sum();
    answeredBefore += loops.stream().mapToLong(RegisterLoop::answered).sum();
    loops = List.of();
    check();
    return nanos;
  }

  private void join() {
    try {
      long end = System.nanoTime() + END.toNanos();
      List<Thread> all = new ArrayList<>(threads);
      Thread kills = killer;
      if (kills != null) {
        all.add(kills);
        killer = null;
      }
      for (Thread thread : all) {
        thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
        if (thread.isAlive()) {
          throw new DriverException(
              thread.getName() + " did not end within " + END.toSeconds() + " s");
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DriverException("interrupted while waiting for answers", e);
    }
    for (RegisterLoop loop : loops) {
      Throwable broken = loop.broken();
      if (broken != null) {
        throw new DriverException("a client died: " + broken, broken);
      }
    }
    RuntimeException failure = killFailure;
    if (failure != null) {
      throw failure;
    }
  }

  /** Reads every register from the survivors, and starts what was killed again. */
  private void check() {
    Integrity sum = Integrity.WHOLE;
    for (Supplier<Integrity> check : checks) {
      sum = sum.plus(repeat(check));
    }
    integrity = sum;
    killed.forEach(cluster::restart);
    killed.clear();
    try {
      cluster.awaitWhole();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DriverException("interrupted while servers start", e);
    }
  }

  private static <T> T repeat(Supplier<T> action) {
    long end = System.nanoTime() + REPEAT_TIMEOUT.toNanos();
    while (true) {
      try {
        return action.get();
      } catch (CoordinationException e) {
        if (System.nanoTime() - end > 0) {
          throw e;
        }
        try {
          TimeUnit.MILLISECONDS.sleep(RETRY_MILLIS);
        } catch (InterruptedException interrupted) {
          Thread.currentThread().interrupt();
          throw e;
        }
      }
    }
  }

  @Override
  public @Nullable Outages outages() {
    return outages;
  }

  @Override
  public void close() {
    loops.forEach(RegisterLoop::stop);
  }
}
