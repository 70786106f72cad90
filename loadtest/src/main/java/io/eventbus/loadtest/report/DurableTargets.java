package io.eventbus.loadtest.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** Targets for durable topics, by themselves and compared with JetStream in the same report. */
final class DurableTargets {
  private static final String BUS = "eventbus";
  private static final String STREAM = "jetstream";
  private static final String STREAM_ALWAYS = "jetstream-always";
  private static final String MANY = "durable-publish/4096";
  private static final String SERIAL = "durable-publish/serial";
  private static final String REPLAY = "durable-replay/128B";
  private static final String TAIL = "durable-tail/100";
  private static final String MANY_THREE = "durable-publish/4096-three";
  private static final String SERIAL_THREE = "durable-publish/serial-three";
  private static final double MAX_SERIAL_MICROS = 600;
  private static final double MAX_SERIAL_THREE_MICROS = 2_500;

  private final List<Summary> summaries;
  private final List<SpeedTarget> targets = new ArrayList<>();

  private DurableTargets(List<Summary> summaries) {
    this.summaries = summaries;
  }

  static List<SpeedTarget> of(List<Summary> summaries) {
    DurableTargets all = new DurableTargets(summaries);
    all.atLeast(MANY, 400_000);
    all.atLeast(MANY, 50, STREAM_ALWAYS);
    all.atLeast(MANY, 3, STREAM);
    all.serial(SERIAL, MAX_SERIAL_MICROS);
    all.atLeast(MANY_THREE, 200_000);
    all.atLeast(MANY_THREE, 4, STREAM_ALWAYS);
    all.atLeast(MANY_THREE, 3, STREAM);
    all.serial(SERIAL_THREE, MAX_SERIAL_THREE_MICROS);
    all.atLeast(REPLAY, 1_500_000);
    all.atLeast(REPLAY, 5, STREAM);
    all.atLeast(TAIL, 5_000_000);
    return List.copyOf(all.targets);
  }

  private void atLeast(String workload, double perSecond) {
    String goal = workload + ": >= " + Figures.rate(perSecond) + "/s";
    Optional<Double> mine = figure(workload, BUS, Summary::deliveredPerSecond);
    targets.add(
        mine.isEmpty()
            ? SpeedTarget.notMeasured(goal, "no figure of " + BUS)
            : SpeedTarget.of(goal, Figures.rate(mine.get()) + "/s", mine.get() >= perSecond));
  }

  private void atLeast(String workload, double factor, String peer) {
    String goal = String.format(Locale.ROOT, "%s: >= %.2f x %s", workload, factor, peer);
    Optional<Double> mine = figure(workload, BUS, Summary::deliveredPerSecond);
    Optional<Double> theirs = figure(workload, peer, Summary::deliveredPerSecond);
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

  private void serial(String workload, double maxMicros) {
    String goal = String.format(Locale.ROOT, "%s: p50 <= %.0f µs", workload, maxMicros);
    String against = workload + ": p50 <= 1.00 x " + STREAM_ALWAYS;
    Optional<Double> mine = figure(workload, BUS, Summary::p50);
    Optional<Double> theirs = figure(workload, STREAM_ALWAYS, Summary::p50);
    targets.add(
        mine.isEmpty()
            ? SpeedTarget.notMeasured(goal, "no figure of " + BUS)
            : SpeedTarget.of(goal, Figures.micros(mine.get()) + " µs", mine.get() <= maxMicros));
    targets.add(
        mine.isEmpty() || theirs.isEmpty()
            ? SpeedTarget.notMeasured(against, "no figure of both")
            : SpeedTarget.of(
                against,
                String.format(
                    Locale.ROOT,
                    "%.2f x (%s : %s µs)",
                    mine.get() / theirs.get(),
                    Figures.micros(mine.get()),
                    Figures.micros(theirs.get())),
                mine.get() <= theirs.get()));
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
