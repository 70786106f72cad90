package io.eventbus.registry.faults;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Program that runs seeds from a command line: directory, seconds of faults, first seed, number.
 */
final class FaultRunMain {
  private FaultRunMain() {}

  /**
   * Runs.
   *
   * @throws IOException if a directory cannot be used
   * @throws InterruptedException never
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    Path root = Path.of(args[0]);
    Duration length = Duration.ofSeconds(Long.parseLong(args[1]));
    long first = Long.parseLong(args[2]);
    int findings = 0;
    for (long seed = first; seed < first + Long.parseLong(args[3]); seed++) {
      Report report = FaultRun.run(seed, length, root.resolve("seed-" + seed));
      System.out.println(report.describe());
      findings += report.findings().size();
    }
    System.out.println(findings + " findings in all");
  }
}
