package io.eventbus.loadtest.faults.run;

import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.faults.buses.BitFlip;
import io.eventbus.loadtest.faults.buses.FaultBus;
import io.eventbus.loadtest.faults.buses.FaultBuses;
import io.eventbus.loadtest.faults.buses.LoopDisk;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Source of faults by a plan that a seed makes: kind, time and duration. The victim may depend on
 * the leader at that time. For one thread.
 */
final class FaultInjector {
  /** Time in which a bus has to be ready again. */
  static final Duration READY = Duration.ofMinutes(2);

  /** Time in which a bus with damaged files says so, or is ready. */
  private static final Duration DAMAGED = Duration.ofMinutes(1);

  private final FaultBuses buses;
  private final List<FaultKind> kinds;
  private final Random random;
  private final FaultDiary diary;

  /** Buses that have to be started again, with the kind of their fault. */
  private final Map<FaultBus, FaultKind> down = new LinkedHashMap<>();

  private final List<FaultBus> frozen = new ArrayList<>();
  private final List<FaultBus> full = new ArrayList<>();

  /** Bits that were changed since the bus has been healed. */
  private final Map<FaultBus, List<BitFlip>> flips = new LinkedHashMap<>();

  private final Set<FaultBus> failing = new LinkedHashSet<>();
  private final Set<FaultBus> drained = new LinkedHashSet<>();
  private boolean cut;
  private boolean healed;

  FaultInjector(FaultBuses buses, List<FaultKind> kinds, long seed, FaultDiary diary) {
    this.buses = buses;
    this.kinds = kinds;
    this.random = new Random(seed);
    this.diary = diary;
  }

  /** Goes on for that long, and then ends all faults. */
  void run(Duration length) throws InterruptedException {
    long end = System.nanoTime() + length.toNanos();
    List<FaultKind> next = new ArrayList<>();
    try {
      while (System.nanoTime() - end < 0) {
        pause(200, 1_500);
        for (int i = random.nextInt(4) == 0 ? 2 : 1; i > 0; i--) {
          if (next.isEmpty()) {
            // Each in turn, so that a run of some length has had them all.
            next.addAll(kinds);
            Collections.shuffle(next, random);
          }
          inflict(next.remove(0));
        }
        pause(200, random.nextInt(4) == 0 ? 5_000 : 1_500);
        if (cut) {
          // Some longer than a lease, so that the others count the bus as ended.
          pause(1, 20_000);
        }
        boolean again = random.nextInt(4) == 0 && !down.isEmpty();
        Map<FaultBus, FaultKind> restarted = mend();
        if (again) {
          pause(0, 3_000);
          killAgain(restarted);
          restarted = mend();
        }
        awaitReady(restarted);
      }
    } finally {
      mend();
      diary.allEnded();
    }
  }

  private void pause(int fromMillis, int toMillis) throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(fromMillis + random.nextInt(toMillis - fromMillis));
  }

  private FaultBus any() {
    return buses.all().get(random.nextInt(buses.all().size()));
  }

  private FaultBus leader() {
    FaultBus other = any();
    return buses.leader().orElse(other);
  }

  private void inflict(FaultKind kind) {
    switch (kind) {
      case KILL -> kill(kind, any());
      case KILL_LEADER -> kill(kind, leader());
      case KILL_ALL -> buses.all().forEach(bus -> kill(kind, bus));
      case PAUSE -> pause(random.nextBoolean() ? leader() : any());
      case SLOW_FSYNC -> freeze(random.nextBoolean() ? leader() : any());
      case FULL_DISK ->
          (random.nextInt(3) == 0 ? buses.all() : List.of(leader())).forEach(this::fill);
      case POWER_LOSS -> losePower(kind, List.of(random.nextBoolean() ? leader() : any()));
      case POWER_LOSS_ALL -> losePower(kind, buses.all());
      case PARTITION -> partition(random.nextBoolean() ? leader() : any());
      case DRAIN -> drain(random.nextBoolean() ? leader() : any());
      case BIT_FLIP -> flip(any());
      case FAILING_FSYNC -> failWrites(random.nextBoolean() ? leader() : any());
    }
    diary.inflicted(kind);
  }

  private void kill(FaultKind kind, FaultBus bus) {
    if (down.containsKey(bus) || frozen.contains(bus)) {
      return;
    }
    diary.begins(kind, bus.name());
    bus.kill();
    down.put(bus, kind);
  }

  private void pause(FaultBus bus) {
    if (!down.containsKey(bus) && !bus.isPaused() && bus.isUp()) {
      diary.begins(FaultKind.PAUSE, bus.name());
      bus.pause();
    }
  }

  private void freeze(FaultBus bus) {
    if (works(bus)) {
      diary.begins(FaultKind.SLOW_FSYNC, bus.name());
      bus.disk().freeze();
      frozen.add(bus);
    }
  }

  private void fill(FaultBus bus) {
    if (works(bus) && !full.contains(bus)) {
      diary.begins(FaultKind.FULL_DISK, bus.name());
      full.add(bus);
      bus.disk().fill();
    }
  }

  /** Returns whether a bus runs, or is paused only, with a disk that it can use. */
  private boolean works(FaultBus bus) {
    return !down.containsKey(bus) && !frozen.contains(bus) && !failing.contains(bus);
  }

  private void failWrites(FaultBus bus) {
    if (works(bus) && failing.add(bus)) {
      diary.begins(FaultKind.FAILING_FSYNC, bus.name());
      bus.disk().failWrites();
    }
  }

  /** Gives good disks to the buses whose disks fail. */
  private void endFailures() {
    for (FaultBus bus : failing) {
      bus.kill();
      bus.disk().unmount();
      bus.disk().endFailures();
      bus.disk().mount();
      down.put(bus, FaultKind.FAILING_FSYNC);
    }
    failing.clear();
  }

  private void losePower(FaultKind kind, List<FaultBus> victims) {
    List<FaultBus> up = victims.stream().filter(this::works).toList();
    up.forEach(bus -> diary.begins(kind, bus.name()));
    // A machine without power answers nobody: see LoopDisk.losePower.
    up.stream().filter(bus -> bus.isUp() && !bus.isPaused()).forEach(FaultBus::pause);
    up.forEach(bus -> bus.disk().losePower());
    up.forEach(FaultBus::kill);
    for (FaultBus bus : up) {
      bus.disk().unmount();
      bus.disk().mount();
      down.put(bus, kind);
    }
  }

  private void flip(FaultBus bus) {
    if (!down.isEmpty()
        || !frozen.isEmpty()
        || !failing.isEmpty()
        || cut
        || bus.isPaused()
        || !buses.areWhole()) {
      // Damage of a second replica at once is more than is promised to be survived.
      return;
    }
    // A bus that ends in order has everything in its store; a killed one has some in its log only.
    if (random.nextBoolean()) {
      bus.stop();
    } else {
      bus.kill();
    }
    bus.flip(random)
        .ifPresent(
            flip -> {
              diary.begins(FaultKind.BIT_FLIP, bus.name(), flip.toString());
              flips.computeIfAbsent(bus, key -> new ArrayList<>()).add(flip);
            });
    down.put(bus, FaultKind.BIT_FLIP);
  }

  private void partition(FaultBus bus) {
    if (down.containsKey(bus) || bus.isPaused() || cut) {
      return;
    }
    boolean gets = random.nextInt(3) == 0;
    boolean sends = !gets && random.nextInt(2) == 0;
    diary.begins(
        FaultKind.PARTITION,
        bus.name(),
        gets ? "only gets" : sends ? "only sends" : "in both directions");
    for (FaultBus other : buses.all()) {
      if (!other.equals(bus) && !sends) {
        buses.cut(bus, other);
      }
      if (!other.equals(bus) && !gets) {
        buses.cut(other, bus);
      }
    }
    cut = true;
  }

  private void drain(FaultBus bus) {
    if (down.containsKey(bus) || bus.isPaused() || !drained.add(bus)) {
      return;
    }
    diary.begins(FaultKind.DRAIN, bus.name());
    if (!bus.state().drain(true)) {
      diary.note(bus.name() + " does not say that it drains");
    }
  }

  /**
   * Lets the buses take clients again that were drained.
   *
   * @throws DriverException if one does not say that it does
   */
  private void endDrains() {
    for (FaultBus bus : drained) {
      if (!FaultBuses.await(() -> bus.state().drain(false), READY)) {
        throw new DriverException(
            bus.name() + " takes back no drain in " + READY.toSeconds() + " s:\n" + bus.tail());
      }
      diary.note("drained no more: " + bus.name());
    }
    drained.clear();
  }

  /** Ends all faults; returns the buses that were started, which are not ready yet. */
  Map<FaultBus, FaultKind> mend() {
    if (cut) {
      buses.heal();
      cut = false;
      diary.note("no partition");
    }
    frozen.forEach(bus -> bus.disk().thaw());
    frozen.clear();
    endFailures();
    full.stream().map(FaultBus::disk).forEach(LoopDisk::free);
    full.clear();
    buses.all().stream().filter(FaultBus::isPaused).forEach(FaultBus::resume);
    Map<FaultBus, FaultKind> restarted = new LinkedHashMap<>(down);
    down.clear();
    restarted.keySet().forEach(FaultBus::start);
    if (!restarted.isEmpty()) {
      diary.note("start: " + names(restarted));
    }
    return restarted;
  }

  private void killAgain(Map<FaultBus, FaultKind> restarted) {
    diary.note("kill while they start: " + names(restarted));
    restarted.keySet().forEach(FaultBus::kill);
    down.putAll(restarted);
  }

  private static String names(Map<FaultBus, FaultKind> restarted) {
    return String.join(", ", restarted.keySet().stream().map(FaultBus::name).toList());
  }

  private void awaitReady(Map<FaultBus, FaultKind> restarted) {
    long begin = System.nanoTime();
    endDrains();
    Map<FaultKind, Long> slowest = new EnumMap<>(FaultKind.class);
    restarted.forEach(
        (bus, kind) -> {
          if (flips.containsKey(bus)) {
            healIfDamaged(bus);
          }
          awaitReady(bus);
          slowest.merge(kind, (System.nanoTime() - begin) / 1_000_000, Math::max);
        });
    diary.allEnded();
    if (healed && !FaultBuses.await(buses::areWhole, READY)) {
      throw new DriverException("the replica that was lost has no vote again: " + names(restarted));
    }
    healed = false;
    slowest.forEach(
        (kind, millis) -> {
          diary.recovered(kind, millis);
          diary.note("ready after " + millis + " ms: " + names(restarted));
        });
  }

  /** Returns whether a bus has a bit that was changed, and not healed. */
  boolean isChanged(String bus) {
    return flips.keySet().stream().anyMatch(changed -> changed.name().equals(bus));
  }

  /** Changes back all bits of buses that do not run, and were not healed. */
  void undoFlips() {
    flips.values().forEach(changed -> changed.forEach(BitFlip::undo));
    flips.clear();
  }

  /** Waits until a bus takes clients, or has said that it is damaged and was healed. */
  private void healIfDamaged(FaultBus bus) {
    if (FaultBuses.await(() -> bus.state().isReady() || !bus.isUp(), DAMAGED) && bus.isUp()) {
      return;
    }
    diary.note(
        bus.name()
            + (bus.isUp() ? " is not ready" : " has ended")
            + " after the change of a bit: "
            + bus.tail().strip().lines().reduce("", (before, line) -> line));
    bus.kill();
    if (buses.all().size() > 1) {
      // As an operator does: it begins anew, and gets a copy.
      bus.lose();
    } else {
      flips.getOrDefault(bus, List.of()).forEach(BitFlip::undo);
    }
    flips.remove(bus);
    healed = true;
    bus.start();
    diary.note("healed and started: " + bus.name());
  }

  /**
   * Waits until a bus takes clients.
   *
   * @throws DriverException if it does not, with the end of its log
   */
  static void awaitReady(FaultBus bus) {
    bus.awaitListening();
    if (!FaultBuses.await(() -> bus.state().isReady() || !bus.isUp(), READY) || !bus.isUp()) {
      throw new DriverException(
          bus.name()
              + (bus.isUp()
                  ? " is not ready after " + READY.toSeconds() + " s"
                  : " ended by itself")
              + ":\n"
              + bus.tail());
    }
  }
}
