package io.eventbus.loadtest.attack.run;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.Observed;
import io.eventbus.loadtest.attack.forked.AttackerProcess;
import io.eventbus.loadtest.attack.forked.ControlProcess;
import io.eventbus.loadtest.attack.forked.Orders;
import io.eventbus.loadtest.attack.honest.HonestOutcome;
import io.eventbus.loadtest.attack.honest.HonestPairs;
import io.eventbus.loadtest.attack.honest.HonestPairs.Phase;
import io.eventbus.loadtest.driver.Directories;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** Plays one attack against a fresh bus. For one thread. */
public final class AttackExperiment {
  private static final int MIN_RECOVERY_MILLIS = 2_000;
  private static final int MAX_RECOVERY_MILLIS = 10_000;
  private static final int POLL_MILLIS = 100;
  private static final int GRACE_MILLIS = 12_000;
  private static final Duration STOP = Duration.ofSeconds(30);
  private static final String USED = "eventbus_memory_used_bytes";
  private static final String CONNECTIONS = "eventbus_connections";

  private final Attack attack;
  private final BusSpec spec;
  private final AttackPlan plan;
  private final Map<String, Long> knobs;
  private final Needs needs;
  private final int seconds;

  /** Prepares one. */
  public AttackExperiment(Attack attack, BusSpec spec, AttackPlan plan) {
    this.attack = attack;
    this.spec = spec;
    this.plan = plan;
    this.knobs = new TreeMap<>(attack.knobs(spec.heapMegabytes()));
    plan.options().forEach((name, value) -> knobs.computeIfPresent(name, (n, old) -> value));
    this.needs = attack.needs(knobs);
    this.seconds = Math.max(plan.seconds(), needs.leastSeconds());
  }

  /**
   * Plays it.
   *
   * @throws Exception if it cannot be played
   */
  public AttackResult play(int round) throws Exception {
    Path directory = Files.createTempDirectory("loadtest-attack-");
    try (AttackedBus bus = AttackedBus.start(spec, needs, directory);
        ControlProcess control = ControlProcess.start();
        HonestPairs pairs =
            HonestPairs.start(
                bus.address(),
                plan.pairs(),
                !needs.journals().isEmpty(),
                needs.bulkBytesPerSecond(),
                control.port());
        AttackerProcess attackers =
            AttackerProcess.start(
                new Orders(attack.name(), bus.attacked(), knobs, seconds, plan.sources()),
                plan.nice())) {
      ProcessFigures process = new ProcessFigures(spec.javaHome(), bus.pid());
      Admin admin = new Admin(bus.address().adminPort(), needs.adminToken());
      try (HealthProbe probe = new HealthProbe(admin, process)) {
        return play(round, bus, pairs, attackers, process, admin, probe);
      }
    } finally {
      Directories.delete(directory);
    }
  }

  private AttackResult play(
      int round,
      AttackedBus bus,
      HonestPairs pairs,
      AttackerProcess attackers,
      ProcessFigures process,
      Admin admin,
      HealthProbe probe)
      throws IOException, InterruptedException {
    Thread.sleep(plan.quietSeconds() * 1_000L);
    long heapBefore = process.heapAfterCollection();
    long countedBefore = counted(admin, pairs);
    long linesBefore = bus.logLines();
    long logBefore = bus.logBytes();
    probe.take();
    pairs.bulkRate();
    pairs.begin(Phase.QUIET);
    Thread.sleep(plan.quietSeconds() * 1_000L);
    double bulkQuiet = pairs.bulkRate();
    Health quietHealth = probe.take();

    long begin = System.nanoTime();
    pairs.begin(Phase.ATTACK);
    attackers.attack();
    awaitEnd(attackers, bus);
    double lasted = secondsSince(begin);
    double bulkAttack = pairs.bulkRate();
    Observed observed = attackers.end();
    pairs.begin(Phase.RECOVERY);

    long countedAfter = recover(bus, admin, pairs, countedBefore);
    pairs.begin(Phase.END);
    Health health = probe.take();
    long connections = Math.round(admin.metric(CONNECTIONS));
    // The collection stops the bus, so that it comes after everything that is measured.
    long heapAfter = bus.isAlive() ? process.heapAfterCollection() : -1;
    pairs.stop(bus.isAlive() ? STOP : Duration.ZERO);
    HonestOutcome honest = pairs.outcome(bulkQuiet, bulkAttack);
    Memory memory = new Memory(heapBefore, heapAfter, countedBefore, countedAfter, probe.rssPeak());
    boolean alive = bus.isAlive();
    BusEnd end =
        new BusEnd(
            alive,
            bus.exitCode(),
            alive ? secondsSince(begin) : lasted,
            connections,
            bus.logLines() - linesBefore,
            bus.logBytes() - logBefore,
            alive ? "" : bus.tail());
    return new AttackResult(
        attack.name(),
        round,
        knobs,
        lasted,
        needs.targets(),
        end,
        honest,
        quietHealth,
        health,
        memory,
        observed);
  }

  /** Waits for the end of the attack, or of the bus. */
  private void awaitEnd(AttackerProcess attackers, AttackedBus bus) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(seconds * 1_000L + GRACE_MILLIS);
    while (bus.isAlive() && System.nanoTime() < end && !attackers.awaitEnd(POLL_MILLIS)) {
      // Nothing to do.
    }
  }

  /** Waits until what was counted is gone again, and returns what is counted then. */
  private static long recover(AttackedBus bus, Admin admin, HonestPairs pairs, long before)
      throws InterruptedException {
    long begin = System.nanoTime();
    Thread.sleep(bus.isAlive() ? MIN_RECOVERY_MILLIS : 0);
    long counted = counted(admin, pairs);
    while (bus.isAlive()
        && (counted < 0 || !Recovery.counted(before, counted))
        && TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin) < MAX_RECOVERY_MILLIS) {
      Thread.sleep(POLL_MILLIS);
      counted = counted(admin, pairs);
    }
    return counted;
  }

  /** Returns what is counted and not the honest's own, negative if unknown. */
  private static long counted(Admin admin, HonestPairs pairs) {
    long counted = Math.round(admin.metric(USED));
    return counted < 0 ? counted : Math.max(0, counted - pairs.keptBytes());
  }

  private static double secondsSince(long begin) {
    return (System.nanoTime() - begin) / 1e9;
  }
}
