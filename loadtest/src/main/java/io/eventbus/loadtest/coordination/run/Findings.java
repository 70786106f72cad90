package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.run.LatencySummary;
import java.util.ArrayList;
import java.util.List;

/** Gathers what experiments find. For one thread. */
public final class Findings {
  private final List<PhaseResult> phases = new ArrayList<>();
  private final List<FleetResult> fleets = new ArrayList<>();
  private final List<Visibility> visibilities = new ArrayList<>();
  private final List<Join> joins = new ArrayList<>();
  private final List<String> problems = new ArrayList<>();

  /** Makes empty findings. */
  public Findings() {
    // Nothing is found yet.
  }

  /**
   * When a change is visible on every bus.
   *
   * @param afterAnswer from the answer to the writer until the last bus saw it; 0 if it saw it
   *     before
   */
  public record Visibility(
      String system, int buses, LatencySummary afterAnswer, LatencySummary afterRequest) {}

  /**
   * How long a server took to join.
   *
   * @param millis from when it could be called until it took part
   */
  public record Join(String system, int number, double millis, double wholeMillis) {}

  void add(PhaseResult phase) {
    phases.add(phase);
  }

  void add(FleetResult fleet) {
    fleets.add(fleet);
  }

  void add(Visibility visibility) {
    visibilities.add(visibility);
  }

  void add(Join join) {
    joins.add(join);
  }

  void problem(String problem) {
    problems.add(problem);
  }

  /** Returns the phases. */
  public List<PhaseResult> phases() {
    return List.copyOf(phases);
  }

  /** Returns what was found of each system's servers. */
  public List<FleetResult> fleets() {
    return List.copyOf(fleets);
  }

  /** Returns when changes were visible. */
  public List<Visibility> visibilities() {
    return List.copyOf(visibilities);
  }

  /** Returns how long joining took. */
  public List<Join> joins() {
    return List.copyOf(joins);
  }

  /** Returns what did not come to its end. */
  public List<String> problems() {
    return List.copyOf(problems);
  }
}
