package io.eventbus.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Experiments in full, printed as tables. They take minutes, so they run by name and every night
 * only, see docs/simulation.md.
 */
class SimulationTable {
  private static final int BUSES = Integer.getInteger("eventbus.simulation.buses", 400);
  // Every bus tells every other its load twice a second: that is many messages in half an hour.
  private static final int HALF_AN_HOUR_BUSES =
      Integer.getInteger("eventbus.simulation.half-an-hour-buses", Math.min(BUSES, 100));
  private static final long[] SEEDS =
      Arrays.stream(System.getProperty("eventbus.simulation.seeds", "1").split(",", -1))
          .mapToLong(Long::parseLong)
          .toArray();
  private static final Set<String> ONLY =
      Set.of(
          System.getProperty("eventbus.simulation.only", "split,trees,hot-spot,half-an-hour")
              .split(",", -1));
  private static final long SAY_EVERY = 10 * Simulator.SECOND;
  private static final long CUT = 30 * Simulator.SECOND;

  private final List<String> missed = new ArrayList<>();

  private static void row(Object... cells) {
    System.out.println(
        Arrays.stream(cells)
            .map(SimulationTable::text)
            .collect(Collectors.joining(" | ", "| ", " |")));
  }

  private static String text(Object cell) {
    if (cell instanceof Double d) {
      return String.format(Locale.ROOT, "%.2f", d);
    }
    return cell instanceof Number n
        ? String.format(Locale.ROOT, "%,d", n.longValue())
        : cell.toString();
  }

  private static void head(String title, Object... cells) {
    System.out.println();
    System.out.println(title);
    System.out.println();
    row(cells);
    row(Arrays.stream(cells).map(cell -> "---").toArray());
  }

  /**
   * Writes a line to the error output every now and then: the tables themselves go to the other
   * one.
   */
  private static Progress progress(String what, long seed) {
    long begun = System.nanoTime();
    long[] said = {begun};
    return now -> {
      if (System.nanoTime() - said[0] >= SAY_EVERY) {
        said[0] = System.nanoTime();
        System.err.printf(
            "%s, seed %d: %d s of virtual time after %d s%n",
            what, seed, now / Simulator.SECOND, seconds(begun));
      }
    };
  }

  private static long seconds(long begun) {
    return (System.nanoTime() - begun) / 1_000_000_000;
  }

  @Test
  void allOfIt() {
    try (Quiet quiet = new Quiet()) {
      assertThat(quiet).isNotNull();
      for (String each : ONLY.stream().sorted().toList()) {
        switch (each) {
          case "split" -> split();
          case "trees" -> trees();
          case "hot-spot" -> hotSpot();
          case "half-an-hour" -> halfAnHour();
          default -> throw new IllegalArgumentException("eventbus.simulation.only: " + each);
        }
      }
    }
    assertThat(missed).isEmpty();
  }

  private void split() {
    head(
        "Cut in two for 30 s and joined again; virtual ms",
        "seed",
        "buses",
        "started",
        "larger side knows",
        "smaller side knows",
        "larger side alone",
        "smaller side alone",
        "registry knows",
        "minority changed it",
        "whole",
        "registry whole",
        "digests wrong",
        "bytes not given back",
        "real s");
    for (long seed : SEEDS) {
      long begun = System.nanoTime();
      SplitAndHeal.Outcome o =
          SplitAndHeal.run(seed, BUSES, BUSES / 4, CUT, progress("split", seed));
      missed.addAll(o.missed());
      row(
          seed,
          o.buses() - o.small() + " + " + o.small(),
          o.started(),
          o.largeKnows(),
          o.smallKnows(),
          o.largeAlone(),
          o.smallAlone(),
          o.registry(),
          o.refused(),
          o.whole(),
          o.registryWhole(),
          o.mismatches(),
          o.leaked(),
          seconds(begun));
    }
  }

  private void trees() {
    head(
        "Events by trees",
        "seed",
        "buses",
        "fanout",
        "killed",
        "events",
        "to be delivered",
        "once",
        "more often",
        "never",
        "strays",
        "reordered",
        "most links",
        "bound",
        "bytes not given back",
        "real s");
    int[][] runs = {{2, 0}, {8, 0}, {1024, 0}, {2, BUSES / 20}, {8, BUSES / 20}};
    for (long seed : SEEDS) {
      for (int[] run : runs) {
        long begun = System.nanoTime();
        Forwarding.Outcome o =
            Forwarding.run(seed, BUSES, run[0], 5, 4, 20, run[1], progress("trees", seed));
        missed.addAll(o.missed());
        row(
            seed,
            o.buses(),
            o.fanout(),
            o.killed(),
            o.events(),
            o.targets(),
            o.once(),
            o.twice(),
            o.never(),
            o.strays(),
            o.reordered(),
            o.hops(),
            o.bound(),
            o.leaked(),
            seconds(begun));
      }
    }
  }

  private void hotSpot() {
    head(
        "A hot spot spreads out; virtual ms from the decision",
        "seed",
        "buses",
        "clients of the hot one",
        "asked of it",
        "it is below low",
        "no bus overloaded",
        "all below low",
        "moves",
        "moves afterwards",
        "again within a minute",
        "came back",
        "highest of another, ever",
        "highest in the end",
        "real s");
    double[] loads = {0.9, 1.0, 2.0, 5.0};
    for (long seed : SEEDS) {
      for (double load : loads) {
        long begun = System.nanoTime();
        HotSpot.Outcome o = HotSpot.run(seed, BUSES, 2_000, load, progress("hot-spot", seed));
        missed.addAll(o.missed());
        row(
            seed,
            o.buses(),
            o.clients(),
            o.asked(),
            o.hotBelow(),
            o.calm(),
            o.allBelow() < 0 ? "not" : o.allBelow(),
            o.moves(),
            o.later(),
            o.twice(),
            o.cameBack(),
            o.highestOther(),
            o.highest(),
            seconds(begun));
      }
    }
  }

  private void halfAnHour() {
    head(
        "Half an hour",
        "seed",
        "what",
        "buses",
        "clients",
        "mean load",
        "moves",
        "in the last 5 minutes",
        "again within a minute",
        "came back",
        "most of one client",
        "overloads",
        "harmed",
        "highest in the end",
        "real s");
    for (long seed : SEEDS) {
      for (HalfAnHour.Kind kind : HalfAnHour.Kind.values()) {
        int buses = kind == HalfAnHour.Kind.TWO_OVERLOADED ? 2 : HALF_AN_HOUR_BUSES;
        long begun = System.nanoTime();
        HalfAnHour.Outcome o = HalfAnHour.run(seed, buses, kind, progress("half-an-hour", seed));
        missed.addAll(o.missed());
        row(
            seed,
            o.kind(),
            o.buses(),
            o.clients(),
            o.mean(),
            o.moves(),
            o.later(),
            o.twice(),
            o.cameBack(),
            o.maxMoves(),
            o.turns(),
            o.harmed(),
            o.highest(),
            seconds(begun));
      }
    }
  }
}
