package io.eventbus.loadtest.run;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads what a process has used so far. On Linux from {@code /proc}, elsewhere as far as the JDK
 * knows it.
 */
final class ProcessMeter {
  /** What is not known. */
  static final long UNKNOWN = -1;

  private static final Pattern RSS = Pattern.compile("(?m)^VmRSS:\\s+(\\d+) kB$");

  private final Path status;
  private final long pid;

  ProcessMeter(long pid) {
    this.pid = pid;
    this.status = Path.of("/proc", Long.toString(pid), "status");
  }

  /** Returns the CPU time of all threads, user and system, in nanoseconds; -1 if unknown. */
  long cpuNanos() {
    // The JDK reads /proc/<pid>/stat for this; the resolution is a clock tick, 10 ms.
    return ProcessHandle.of(pid)
        .flatMap(process -> process.info().totalCpuDuration())
        .map(Duration::toNanos)
        .orElse(UNKNOWN);
  }

  /** Returns the resident memory in bytes; -1 if unknown. */
  long rssBytes() {
    try {
      Matcher rss = RSS.matcher(Files.readString(status, StandardCharsets.ISO_8859_1));
      return rss.find() ? Long.parseLong(rss.group(1)) * 1024 : UNKNOWN;
    } catch (IOException e) {
      return UNKNOWN;
    }
  }
}
