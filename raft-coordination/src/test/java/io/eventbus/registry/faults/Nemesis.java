package io.eventbus.registry.faults;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Source of faults in a cluster by a plan that a seed makes: kind, time and duration. The victim
 * may depend on the leader at that time.
 */
final class Nemesis {
  /** Kind of fault. */
  enum Fault {
    KILL_ONE(false),
    KILL_LEADER(false),
    KILL_MINORITY(false),
    KILL_ALL(false),
    KILL_AND_START_AT_ONCE(false),
    PAUSE_ONE(false),
    PAUSE_LEADER(false),
    PAUSE_MAJORITY(false),
    JUMP_CLOCKS(false),
    CUT_OFF_LEADER(true),
    SPLIT_BY_CHANCE(true),
    CUT_PAIR(true);

    final boolean partition;

    Fault(boolean partition) {
      this.partition = partition;
    }
  }

  private final Cluster cluster;
  private final Random random;
  private final List<Fault> faults;
  private final Map<Fault, Integer> done = new EnumMap<>(Fault.class);
  private final List<String> diary = new ArrayList<>();
  private final long origin = System.nanoTime();

  Nemesis(Cluster cluster, long seed) {
    this.cluster = cluster;
    this.random = new Random(seed);
    this.faults =
        List.of(Fault.values()).stream()
            .filter(f -> !f.partition || cluster.network().canPartition())
            .toList();
  }

  /** Goes on for that long and then mends everything. */
  void run(Duration length) throws IOException, InterruptedException {
    long end = System.nanoTime() + length.toNanos();
    // Each fault in turn, in an order of chance, so that a run of some length has had them all.
    List<Fault> next = new ArrayList<>();
    while (System.nanoTime() < end) {
      pause(200, 1_500);
      for (int i = random.nextInt(4) == 0 ? 2 : 1; i > 0; i--) {
        if (next.isEmpty()) {
          next.addAll(faults);
          Collections.shuffle(next, random);
        }
        inflict(next.remove(0));
      }
      pause(300, random.nextInt(4) == 0 ? 6_000 : 2_000);
      note("mends everything");
      mend();
    }
    cluster.heal();
  }

  Map<Fault, Integer> done() {
    return done;
  }

  List<String> diary() {
    return diary;
  }

  private void pause(int fromMillis, int toMillis) throws InterruptedException {
    // Nothing opens it: a wait that is no wait for anything.
    var unused =
        new CountDownLatch(1)
            .await(fromMillis + random.nextInt(toMillis - fromMillis), TimeUnit.MILLISECONDS);
  }

  private void note(String text) {
    diary.add(String.format("%8.3f s  %s", (System.nanoTime() - origin) / 1e9, text));
  }

  /**
   * Mends everything without waiting for buses that start: the next fault may come before they
   * have.
   */
  private void mend() throws IOException, InterruptedException {
    cluster.network().heal();
    for (Bus bus : cluster.buses()) {
      bus.resume();
      if (!bus.isUp()) {
        bus.start();
      }
    }
  }

  private void inflict(Fault fault) throws IOException, InterruptedException {
    done.merge(fault, 1, Integer::sum);
    List<Bus> shuffled = new ArrayList<>(cluster.buses());
    Collections.shuffle(shuffled, random);
    Bus leader = leaderOr(shuffled.get(0));
    int minority = (cluster.buses().size() - 1) / 2;
    switch (fault) {
      case KILL_ONE -> kill(shuffled.subList(0, 1));
      case KILL_LEADER -> kill(List.of(leader));
      case KILL_MINORITY -> kill(shuffled.subList(0, minority));
      case KILL_ALL -> kill(shuffled);
      case KILL_AND_START_AT_ONCE -> {
        kill(List.of(leader));
        leader.start();
      }
      case PAUSE_ONE -> pause(shuffled.subList(0, 1));
      case PAUSE_LEADER -> pause(List.of(leader));
      case PAUSE_MAJORITY -> pause(shuffled.subList(0, minority + 1));
      case JUMP_CLOCKS -> {
        for (Bus bus : cluster.buses()) {
          long millis = (random.nextLong() % 100_000_000L) * (1 + random.nextInt(100));
          note(bus.name() + ": the wall clock jumps by " + millis + " ms");
          if (bus.isUp()) {
            var unused = bus.ask("clock " + millis);
          }
        }
      }
      case CUT_OFF_LEADER -> split(Set.of(leader.index()));
      case SPLIT_BY_CHANCE -> {
        Set<Integer> side = new TreeSet<>();
        for (Bus bus : shuffled.subList(0, 1 + random.nextInt(shuffled.size() - 1))) {
          side.add(bus.index());
        }
        split(side);
      }
      case CUT_PAIR -> {
        note("cuts " + shuffled.get(0).name() + " off from " + shuffled.get(1).name());
        cluster.network().cut(shuffled.get(0).index(), shuffled.get(1).index());
      }
    }
  }

  private Bus leaderOr(Bus other) {
    Bus leader = cluster.leader();
    return leader == null ? other : leader;
  }

  private void kill(List<Bus> buses) throws InterruptedException {
    for (Bus bus : buses) {
      note("kills " + bus.name());
      bus.kill();
    }
  }

  private void pause(List<Bus> buses) throws IOException, InterruptedException {
    for (Bus bus : buses) {
      note("pauses " + bus.name());
      bus.pause();
    }
  }

  private void split(Set<Integer> side) throws IOException, InterruptedException {
    note("splits " + side + " from the others");
    cluster.network().split(side);
  }
}
