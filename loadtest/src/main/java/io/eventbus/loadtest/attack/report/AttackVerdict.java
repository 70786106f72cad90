package io.eventbus.loadtest.attack.report;

import io.eventbus.loadtest.attack.Check;
import io.eventbus.loadtest.attack.honest.CallOutcome;
import io.eventbus.loadtest.attack.honest.HonestOutcome;
import io.eventbus.loadtest.attack.honest.Latency;
import io.eventbus.loadtest.attack.honest.PairOutcome;
import io.eventbus.loadtest.attack.honest.Timings;
import io.eventbus.loadtest.attack.run.AttackResult;
import io.eventbus.loadtest.attack.run.Memory;
import io.eventbus.loadtest.attack.run.Recovery;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;

/** The targets, and which of them an attack has missed. */
public final class AttackVerdict {
  private static final double MEDIAN_MILLIS = 5;
  private static final double HEALTH_MILLIS = 100;
  private static final double BULK_PART = 0.8;

  private AttackVerdict() {}

  /**
   * Judges an attack.
   *
   * @return the targets that were missed with what was found instead; empty if all were met
   */
  public static List<String> missed(AttackResult result) {
    List<String> missed = new ArrayList<>();
    if (!result.bus().alive()) {
      missed.add(
          format(
              "the bus ended with %d after %.1f s",
              result.bus().exitCode(), result.bus().afterSeconds()));
    }
    whole(result.honest().events(), missed);
    if (result.bus().alive()) {
      answered(result.honest().calls(), missed);
    }
    if (result.bus().alive()) {
      fast(result.honest(), result.targets().maxMillis(), missed);
      even(result.honest(), result.targets().p99Factor(), missed);
      healthy(result, missed);
      givenBack(result.memory(), result.honest().durable().attack().count() > 0, missed);
    }
    logged(result, missed);
    for (Check check : result.observed().checks()) {
      if (!check.held()) {
        missed.add("not so: " + check.what() + " (" + check.found() + ")");
      }
    }
    if (!result.observed().error().isEmpty()) {
      missed.add("the attack failed: " + result.observed().error());
    }
    return missed;
  }

  private static void whole(PairOutcome events, List<String> missed) {
    if (events.lost() + events.doubled() + events.reordered() + events.foreign() > 0) {
      missed.add(
          format(
              "lost %d, doubled %d, reordered %d, foreign %d",
              events.lost(), events.doubled(), events.reordered(), events.foreign()));
    }
    if (!events.closed().isEmpty()) {
      missed.add("honest: " + String.join(", ", events.closed()));
    }
  }

  private static void answered(CallOutcome calls, List<String> missed) {
    if (calls.lost() + calls.doubled() + calls.refused() > 0) {
      missed.add(
          format(
              "calls: lost %d, doubled %d, failed %d %s",
              calls.lost(), calls.doubled(), calls.refused(), new TreeMap<>(calls.failed())));
    }
    if (!calls.closed().isEmpty()) {
      missed.add("honest: " + String.join(", ", calls.closed()));
    }
  }

  private static void fast(HonestOutcome honest, int maxMillis, List<String> missed) {
    // A delay that the machine gives a socket without the bus is not the bus's doing.
    double longest = maxMillis + honest.control().worst();
    median("p50", honest.attack(), missed);
    longest("max", Math.max(honest.attack().max(), honest.after().max()), longest, missed);
    median("calls p50", honest.callTimes().attack(), missed);
    longest("calls max", honest.callTimes().worst(), longest, missed);
    durableMedian(honest.durable(), missed);
    longest("durable max", honest.durable().worst(), longest, missed);
    if (honest.bulkAttack() < honest.bulkQuiet() * BULK_PART) {
      missed.add(
          format(
              "large pair %.1f MB/s, %.1f before",
              honest.bulkAttack() / 1e6, honest.bulkQuiet() / 1e6));
    }
  }

  private static void median(String what, Latency attack, List<String> missed) {
    if (attack.p50() > MEDIAN_MILLIS) {
      missed.add(format("%s %.1f ms > %.0f", what, attack.p50(), MEDIAN_MILLIS));
    }
  }

  /** The disk makes every event wait, also without an attack. */
  private static void durableMedian(Timings durable, List<String> missed) {
    double most = durable.quiet().p50() + MEDIAN_MILLIS;
    if (durable.attack().p50() > most) {
      missed.add(format("durable p50 %.1f ms > %.1f", durable.attack().p50(), most));
    }
  }

  private static void longest(String what, double found, double longest, List<String> missed) {
    if (found > longest) {
      missed.add(format("%s %.0f ms > %.0f", what, found, longest));
    }
  }

  private static void even(HonestOutcome honest, double factor, List<String> missed) {
    if (factor > 0 && honest.attack().p99() > factor * honest.quiet().p99()) {
      missed.add(
          format("p99 %.2f ms > %.1f x %.2f", honest.attack().p99(), factor, honest.quiet().p99()));
    }
  }

  private static void healthy(AttackResult result, List<String> missed) {
    if (result.health().bad() > 0) {
      missed.add(
          format("healthz not 200 %d of %d", result.health().bad(), result.health().asked()));
    }
    if (result.health().worstMillis() > HEALTH_MILLIS) {
      missed.add(format("healthz %.0f ms > %.0f", result.health().worstMillis(), HEALTH_MILLIS));
    }
  }

  private static void givenBack(Memory memory, boolean durable, List<String> missed) {
    if (!Recovery.counted(memory.countedBefore(), memory.countedAfter())) {
      missed.add(format("counted memory %.1f MB after", megabytes(memory.countedAfter())));
    }
    if (!Recovery.heap(memory.heapBefore(), memory.heapAfter(), durable)) {
      missed.add(
          format(
              "heap %.0f MB after, %.0f before",
              megabytes(memory.heapAfter()), megabytes(memory.heapBefore())));
    }
  }

  private static void logged(AttackResult result, List<String> missed) {
    long lines = result.bus().logLines();
    if (lines > result.targets().logLinesPerSecond() * result.seconds()) {
      missed.add(format("%d log lines in %.1f s", lines, result.seconds()));
    }
    if (result.targets().log() && lines == 0) {
      missed.add("the log does not tell of it");
    }
  }

  static double megabytes(long bytes) {
    return bytes < 0 ? -1 : bytes / (double) (1 << 20);
  }

  private static String format(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
