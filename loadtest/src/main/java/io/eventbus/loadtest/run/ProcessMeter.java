package io.eventbus.loadtest.run;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads what processes have used so far, all together. On Linux from {@code /proc}, elsewhere as
 * far as the JDK knows it.
 */
final class ProcessMeter {
  /** Value of an unknown figure. */
  static final long UNKNOWN = -1;

  private static final Pattern RSS = Pattern.compile("(?m)^VmRSS:\\s+(\\d+) kB$");

  private final List<Long> pids;

  ProcessMeter(Collection<Long> pids) {
    this.pids = List.copyOf(pids);
  }

  /** Returns what this process uses. */
  static ProcessMeter own() {
    return new ProcessMeter(List.of(ProcessHandle.current().pid()));
  }

  private long sum(ToLongFunction<Long> figure) {
    long sum = 0;
    for (Long pid : pids) {
      long value = figure.applyAsLong(pid);
      if (value == UNKNOWN) {
        return UNKNOWN;
      }
      sum += value;
    }
    return sum;
  }

  /** Returns the CPU time of all threads, user and system, in nanoseconds; -1 if unknown. */
  long cpuNanos() {
    return sum(ProcessMeter::cpuNanos);
  }

  private static long cpuNanos(long pid) {
    // The JDK reads /proc/<pid>/stat for this; the resolution is a clock tick, 10 ms.
    return ProcessHandle.of(pid)
        .flatMap(process -> process.info().totalCpuDuration())
        .map(Duration::toNanos)
        .orElse(UNKNOWN);
  }

  /** Returns the resident memory in bytes; -1 if unknown. */
  long rssBytes() {
    return sum(ProcessMeter::rssBytes);
  }

  private static long rssBytes(long pid) {
    Path status = Path.of("/proc", Long.toString(pid), "status");
    try {
      Matcher rss = RSS.matcher(Files.readString(status, StandardCharsets.ISO_8859_1));
      return rss.find() ? Long.parseLong(rss.group(1)) * 1024 : UNKNOWN;
    } catch (IOException e) {
      return UNKNOWN;
    }
  }
}
