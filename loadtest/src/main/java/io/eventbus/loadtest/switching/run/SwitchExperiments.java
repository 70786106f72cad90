package io.eventbus.loadtest.switching.run;

import io.eventbus.loadtest.run.RunResult;
import io.eventbus.loadtest.switching.Buses;
import io.eventbus.loadtest.workload.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/** The experiments by their names on the command line. */
public final class SwitchExperiments {
  /** Beginning of the names of the workloads. */
  static final String FAMILY = "switch/";

  /** System that is measured. */
  static final String DRIVER = "eventbus";

  /** Many clients have so many topics between them. */
  private static final int TOPICS = 10;

  /** A hot topic has so many times the events of another. */
  private static final int HOT = 10;

  /** Kinds of experiments. */
  public enum Kind {
    /** Moves one client many times. */
    ONE,
    /** A topic with one publisher and many subscribers is moved. */
    HOT_TOPIC,
    /** A bus with many clients is drained. */
    DRAIN,
    /** Buses are restarted one after the other. */
    ROLLING_RESTART,
    /** A bus is killed. */
    KILL;

    /**
     * Finds a kind.
     *
     * @throws IllegalArgumentException if it means nothing
     */
    public static Kind of(String word) {
      return Stream.of(values())
          .filter(kind -> kind.toString().equals(word))
          .findFirst()
          .orElseThrow(
              () ->
                  new IllegalArgumentException(
                      "EXPERIMENT: "
                          + word
                          + " (expected: one, hot-topic, drain, rolling-restart or kill)"));
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  private SwitchExperiments() {}

  /** Returns the workloads that stand for the experiments of a kind in a report. */
  public static List<Workload> workloads(Kind kind, SwitchPlan plan) {
    return scripts(kind, plan).stream()
        .map(script -> Workload.described(FAMILY + script.name(), script.description(plan)))
        .toList();
  }

  /**
   * Plays the experiments of a kind.
   *
   * @param version of the buses
   * @throws InterruptedException if the thread is interrupted; the buses are ended all the same
   */
  public static List<RunResult> play(
      Kind kind,
      SwitchPlan plan,
      IntFunction<Buses> start,
      Consumer<String> progress,
      String version)
      throws InterruptedException {
    List<RunResult> results = new ArrayList<>();
    for (Script script : scripts(kind, plan)) {
      results.add(Stage.play(script, plan, start, progress, version));
    }
    return results;
  }

  private static List<Script> scripts(Kind kind, SwitchPlan plan) {
    return switch (kind) {
      case ONE -> List.of(new OneClient(false), new OneClient(true));
      case HOT_TOPIC ->
          List.of(new Drain(kind.toString(), 1, plan.hotSubscribers(), HOT * plan.clientRate()));
      case DRAIN -> {
        int publishers = Math.min(TOPICS, plan.clients() / 2);
        yield List.of(
            new Drain(kind.toString(), publishers, plan.clients() - publishers, plan.clientRate()));
      }
      case ROLLING_RESTART -> List.of(new RollingRestart());
      case KILL -> List.of(new Kill());
    };
  }
}
