package io.eventbus.registry.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Buses as real processes under faults, judged by what clients saw.
 *
 * <p>{@code -Deventbus.faults.seed=…} is the first seed, {@code -Deventbus.faults.seeds=…} how
 * many, {@code -Deventbus.faults.seconds=…} how long each is harmed.
 */
@EnabledOnOs(value = OS.LINUX, disabledReason = "signals and one clock for all processes")
@Tag("faults")
@Timeout(600)
class RegistryFaultsIT {
  static LongStream seeds() {
    long first = Long.getLong("eventbus.faults.seed", 1);
    return LongStream.range(first, first + Long.getLong("eventbus.faults.seeds", 1));
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void nothingThatWasAcknowledgedIsLostOrAppliedTwice(long seed) throws Exception {
    Path directory = Path.of("target", "faults", "seed-" + seed).toAbsolutePath();
    delete(directory);
    Report report =
        FaultRun.run(
            seed, Duration.ofSeconds(Long.getLong("eventbus.faults.seconds", 15)), directory);
    // For the report of the build: which faults ran, and which were impossible here.
    System.out.println(report.describe());
    assertThat(report.findings())
        .as("-Deventbus.faults.seed=%d; files in %s", seed, directory)
        .isEqualTo(List.of());
    assertThat(report.operations()).hasSizeGreaterThan(100);
    delete(directory);
  }

  private static void delete(Path directory) throws IOException {
    if (Files.exists(directory)) {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }
}
