package io.eventbus.loadtest.switching.report;

import io.eventbus.loadtest.report.SpeedTarget;
import io.eventbus.loadtest.switching.run.Spread;
import io.eventbus.loadtest.switching.run.SwitchResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/** What a change of bus may cost, line by line. */
final class SwitchTargets {
  private static final double MAX = 100;

  private final List<SwitchResult> results;
  private final List<SpeedTarget> targets = new ArrayList<>();

  private SwitchTargets(List<SwitchResult> results) {
    this.results = results;
  }

  static List<SpeedTarget> of(List<SwitchResult> results) {
    SwitchTargets all = new SwitchTargets(results);
    for (String one : List.of("one-subscriber", "one-publisher")) {
      all.atMost(one, "pause", SwitchResult::pauses, 50, 5);
      all.atMost(one, "pause", SwitchResult::pauses, 99, 25);
    }
    all.atMost("drain", "all clients gone", SwitchResult::rounds, MAX, 10_000);
    all.atMost("drain", "pause", SwitchResult::pauses, MAX, 250);
    all.atMost("kill", "clients served elsewhere", SwitchResult::switching, 99, 3_000);
    for (SwitchResult result : results) {
      all.integrity(result);
    }
    return List.copyOf(all.targets);
  }

  private void atMost(
      String experiment,
      String what,
      Function<SwitchResult, Spread> figure,
      double percent,
      double most) {
    String rank = percent == MAX ? "longest" : String.format(Locale.ROOT, "p%.0f", percent);
    String goal =
        String.format(Locale.ROOT, "%s: %s, %s <= %,.0f ms", experiment, what, rank, most);
    Optional<Spread> found =
        results.stream()
            .filter(result -> result.experiment().equals(experiment))
            .map(figure)
            .filter(spread -> !spread.millis().isEmpty())
            .findFirst();
    if (found.isEmpty()) {
      targets.add(SpeedTarget.notMeasured(goal, "no figure"));
      return;
    }
    double value = found.get().at(percent);
    targets.add(
        SpeedTarget.of(
            goal,
            SwitchTable.millis(value) + " ms of " + found.get().millis().size(),
            value <= most));
  }

  private void integrity(SwitchResult result) {
    boolean kill = result.experiment().equals("kill");
    targets.add(
        SpeedTarget.of(
            result.experiment()
                + (kill
                    ? ": 0/0/0 from publishers elsewhere to subscribers elsewhere"
                    : ": 0/0/0, nobody disconnected"),
            result.integrity()
                + (kill
                    ? ", " + result.allowedLost() + " lost with the killed buses"
                    : ", " + result.disconnects() + " disconnected"),
            result.integrity().whole()
                && result.problem() == null
                && (kill || result.disconnects() == 0)));
  }
}
