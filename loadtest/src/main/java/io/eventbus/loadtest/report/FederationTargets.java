package io.eventbus.loadtest.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * Targets for the cost of a second bus and of many consumers: workloads of one report compared with
 * each other.
 */
final class FederationTargets {
  private static final String BUS = "eventbus";
  private static final String NATS = "nats";
  private static final String ONE = "federation-hop/one-bus";
  private static final String TWO = "federation-hop/two-buses";
  private static final double MAX_ADDED_MICROS = 100;

  private final List<Summary> summaries;
  private final List<SpeedTarget> targets = new ArrayList<>();

  private FederationTargets(List<Summary> summaries) {
    this.summaries = summaries;
  }

  static List<SpeedTarget> of(List<Summary> summaries) {
    FederationTargets all = new FederationTargets(summaries);
    all.atLeast(0.6, TWO, BUS, ONE, BUS);
    all.atLeast(2, TWO, BUS, TWO, NATS);
    all.addedLatency();
    all.manyConsumers();
    return List.copyOf(all.targets);
  }

  private void addedLatency() {
    String goal =
        String.format(
            Locale.ROOT, "%s-10k: p50 <= %.0f µs above %s-10k", TWO, MAX_ADDED_MICROS, "one-bus");
    Optional<Double> one = figure(ONE + "-10k", BUS, Summary::p50);
    Optional<Double> two = figure(TWO + "-10k", BUS, Summary::p50);
    if (one.isEmpty() || two.isEmpty()) {
      targets.add(SpeedTarget.notMeasured(goal, "no figure of both"));
      return;
    }
    double added = two.get() - one.get();
    targets.add(
        SpeedTarget.of(
            goal,
            String.format(
                Locale.ROOT,
                "%.1f µs (%s - %s)",
                added,
                Figures.micros(two.get()),
                Figures.micros(one.get())),
            added <= MAX_ADDED_MICROS));
  }

  /** In every size that was measured. */
  private void manyConsumers() {
    summaries.stream()
        .map(Summary::workload)
        .filter(name -> name.startsWith("federation-shape/B-8C-"))
        .distinct()
        .forEach(name -> atLeast(0.8, name, BUS, name.replace("B-8C", "B-4C"), BUS));
  }

  private void atLeast(
      double factor, String workload, String driver, String other, String otherDriver) {
    String against = workload.equals(other) ? otherDriver : other;
    String goal = String.format(Locale.ROOT, "%s: >= %.2f x %s", workload, factor, against);
    Optional<Double> mine = figure(workload, driver, Summary::deliveredPerSecond);
    Optional<Double> theirs = figure(other, otherDriver, Summary::deliveredPerSecond);
    if (mine.isEmpty() || theirs.isEmpty()) {
      targets.add(SpeedTarget.notMeasured(goal, "no figure of both"));
      return;
    }
    targets.add(
        SpeedTarget.of(
            goal,
            String.format(
                Locale.ROOT,
                "%.2f x (%s : %s)",
                mine.get() / theirs.get(),
                Figures.rate(mine.get()),
                Figures.rate(theirs.get())),
            mine.get() >= factor * theirs.get()));
  }

  private Optional<Double> figure(
      String workload, String driver, ToDoubleFunction<Summary> figure) {
    return summaries.stream()
        .filter(s -> s.workload().equals(workload) && s.driver().equals(driver) && s.runs() > 0)
        .map(figure::applyAsDouble)
        .filter(value -> value > 0)
        .findFirst();
  }
}
