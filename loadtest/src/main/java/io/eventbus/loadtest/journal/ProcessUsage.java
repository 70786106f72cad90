package io.eventbus.loadtest.journal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Processor time and writes of this process, as the system counts them. */
final class ProcessUsage {
  private ProcessUsage() {}

  /** Returns the time of processors that the process has taken. */
  static Duration cpu() {
    return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
  }

  /**
   * Returns what the process has written into files, and little else; -1 where the system does not
   * tell. The system's other counter, {@code write_bytes}, counts a large page whole for each byte.
   */
  static long writtenBytes() throws IOException {
    Path file = Path.of("/proc/self/io");
    if (!Files.isReadable(file)) {
      return -1;
    }
    String field = "wchar: ";
    for (String line : Files.readAllLines(file)) {
      if (line.startsWith(field)) {
        return Long.parseLong(line.substring(field.length()));
      }
    }
    return -1;
  }
}
