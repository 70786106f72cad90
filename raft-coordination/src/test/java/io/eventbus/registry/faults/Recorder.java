package io.eventbus.registry.faults;

import io.eventbus.registry.history.Operation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Record of the events of a run. Any thread. */
final class Recorder {
  private final List<Operation> operations = new ArrayList<>();
  private final List<String> findings = new ArrayList<>();
  private int ended;

  private final Map<Integer, String> lives = new HashMap<>();
  private final Map<Long, Integer> digests = new HashMap<>();

  /** Times when a bus had told its listener of at least that version, for each bus. */
  private final Map<Integer, TreeMap<Long, Long>> told = new HashMap<>();

  synchronized void operation(Operation operation) {
    operations.add(operation);
  }

  synchronized void finding(String text) {
    findings.add(text);
  }

  /**
   * Records that a bus ended itself, as it should when its engine has; the test has to start it
   * again.
   */
  synchronized void ended() {
    ended++;
  }

  synchronized int endedByThemselves() {
    return ended;
  }

  /** Records the number of one life of one bus; no two are alike. */
  synchronized void life(String bus, int number) {
    String before = lives.putIfAbsent(number, bus);
    if (before != null) {
      findings.add("bus number " + number + " was given to " + before + " and again to " + bus);
    }
  }

  /** Records that a version is the same registry, on every bus and in every life. */
  synchronized void state(int bus, long version, long nanos, int digest) {
    Integer other = digests.putIfAbsent(version, digest);
    if (other != null && other != digest) {
      findings.add("version " + version + " of bus " + bus + " differs from another bus's");
    }
    // After a restart the bus reports again what it reported before.
    TreeMap<Long, Long> times = told.computeIfAbsent(bus, b -> new TreeMap<>());
    if (times.isEmpty() || version > times.lastKey()) {
      times.put(version, nanos);
    }
  }

  synchronized List<Operation> operations() {
    return List.copyOf(operations);
  }

  synchronized List<String> findings() {
    return List.copyOf(findings);
  }

  synchronized int lives() {
    return lives.size();
  }

  synchronized int versionsCompared() {
    return digests.size();
  }

  /**
   * Returns the time when the last of that many buses had reported this version; -1 if one has not.
   */
  synchronized long visibleEverywhere(int buses, long version) {
    long last = -1;
    for (int bus = 0; bus < buses; bus++) {
      TreeMap<Long, Long> times = told.get(bus);
      Map.Entry<Long, Long> entry = times == null ? null : times.ceilingEntry(version);
      if (entry == null) {
        return -1;
      }
      last = Math.max(last, entry.getValue());
    }
    return last;
  }
}
