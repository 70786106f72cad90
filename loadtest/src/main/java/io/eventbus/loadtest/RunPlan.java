package io.eventbus.loadtest;

import io.eventbus.loadtest.workload.Workload;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Which runs are made, in which order: systems take turns, A B A B, so that what changes on the
 * machine meets them all, and so do the workloads that are compared with each other.
 */
final class RunPlan {
  private final Map<Workload, String> workloads;
  private final Map<String, String> versions;
  private final @Nullable Integer runs;
  private final BiFunction<String, Workload, String> lacks;

  /**
   * Creates it.
   *
   * @param runs of each workload; null for what it says
   * @param lacks what a system has not that a workload needs, empty for nothing
   */
  RunPlan(
      Map<Workload, String> workloads,
      Map<String, String> versions,
      @Nullable Integer runs,
      BiFunction<String, Workload, String> lacks) {
    this.workloads = new LinkedHashMap<>(workloads);
    this.versions = new LinkedHashMap<>(versions);
    this.runs = runs;
    this.lacks = lacks;
  }

  /** Returns all runs in their order. */
  List<PlannedRun> runs() {
    Map<String, List<Workload>> turns = new LinkedHashMap<>();
    workloads
        .keySet()
        .forEach(w -> turns.computeIfAbsent(w.turns(), t -> new ArrayList<>()).add(w));
    List<PlannedRun> plan = new ArrayList<>();
    for (List<Workload> together : turns.values()) {
      int max = together.stream().mapToInt(this::count).max().orElse(0);
      for (int run = 1; run <= max; run++) {
        for (Workload workload : together) {
          if (run <= count(workload)) {
            add(plan, workload, run);
          }
        }
      }
    }
    return plan;
  }

  /** Returns in a line each what cannot be run with which system. */
  List<String> leftOut() {
    List<String> lines = new ArrayList<>();
    for (String driver : versions.keySet()) {
      List<String> ofDriver = new ArrayList<>();
      for (Workload workload : workloads.keySet()) {
        String lack = lacks.apply(driver, workload);
        if (!lack.isEmpty()) {
          ofDriver.add(workload.name() + ": " + driver + " has no " + lack + ": left out");
        }
      }
      if (ofDriver.size() > 1 && ofDriver.size() == workloads.size()) {
        lines.add(driver + ": no workload is for it: left out");
      } else {
        lines.addAll(ofDriver);
      }
    }
    return lines;
  }

  private int count(Workload workload) {
    return runs == null ? workload.runs() : runs;
  }

  /** Adds a round. Each begins with the next system, as the first of a round can be slower. */
  private void add(List<PlannedRun> plan, Workload workload, int run) {
    String word = workloads.getOrDefault(workload, "");
    List<String> drivers = new ArrayList<>(versions.keySet());
    Collections.rotate(drivers, 1 - run);
    for (String driver : drivers) {
      if (lacks.apply(driver, workload).isEmpty()) {
        plan.add(new PlannedRun(word, workload, driver, versions.getOrDefault(driver, ""), run));
      }
    }
  }
}
