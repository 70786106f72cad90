package io.eventbus.loadtest.report;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Machine that figures come from; without it they mean nothing.
 *
 * @param cores how many of them this process may use
 * @param memoryBytes main memory, -1 if unknown
 */
public record Machine(String cpu, int cores, long memoryBytes, String system, String java) {
  /** Describes this machine. */
  public static Machine here() {
    long memory =
        ManagementFactory.getOperatingSystemMXBean()
                instanceof com.sun.management.OperatingSystemMXBean system
            ? system.getTotalMemorySize()
            : -1;
    return new Machine(
        processor(),
        Runtime.getRuntime().availableProcessors(),
        memory,
        System.getProperty("os.name") + " " + System.getProperty("os.version"),
        System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
  }

  private static String processor() {
    try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .findFirst()
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .orElse(System.getProperty("os.arch"));
    } catch (IOException e) {
      return System.getProperty("os.arch");
    }
  }

  @Override
  public String toString() {
    String memory = memoryBytes < 0 ? "" : ", " + (memoryBytes >> 30) + " GiB";
    return cpu + ", " + cores + " cores" + memory + ", " + system + ", " + java;
  }
}
