package io.eventbus.loadtest.coordination.run;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The CPU time that processes have used so far, user and system.
 *
 * @param nanos by the id of the process
 */
record CpuTimes(Map<Long, Long> nanos) {
  CpuTimes {
    nanos = Map.copyOf(nanos);
  }

  static CpuTimes of(List<Long> pids) {
    Map<Long, Long> nanos = new TreeMap<>();
    for (long pid : pids) {
      ProcessHandle.of(pid)
          .flatMap(process -> process.info().totalCpuDuration())
          .ifPresent(used -> nanos.put(pid, used.toNanos()));
    }
    return new CpuTimes(nanos);
  }

  static CpuTimes ofThis() {
    return of(List.of(ProcessHandle.current().pid()));
  }

  int processes() {
    return nanos.size();
  }

  /**
   * What was used since then, 0 or more; -1 if they are not the same processes. The kernel counts
   * in ticks of 10 ms and splits them into user and system time anew at each question, so that the
   * sum of two rounded figures can be a tick less than before.
   */
  long since(CpuTimes before) {
    if (!nanos.keySet().equals(before.nanos.keySet())) {
      return -1;
    }
    return nanos.entrySet().stream()
        .mapToLong(
            entry -> Math.max(0, entry.getValue() - before.nanos.getOrDefault(entry.getKey(), 0L)))
        .sum();
  }
}
