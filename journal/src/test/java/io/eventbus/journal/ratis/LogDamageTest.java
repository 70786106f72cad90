package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Log of a killed shard in which a bit has changed: the shard does not open, and never begins with
 * fewer events.
 */
@Timeout(300)
class LogDamageTest {
  private static final int EVENTS = 4;

  /** Not a divisor of the size of an entry, so that all its parts are hit. */
  private static final int STEP = 17;

  @TempDir private Path directory = Path.of("");

  private static void copy(Path from, Path to) throws IOException {
    List<Path> all;
    try (Stream<Path> files = Files.walk(from)) {
      all = files.sorted().toList();
    }
    for (Path path : all) {
      Files.copy(path, to.resolve(from.relativize(path)));
    }
  }

  private static Path log(Path root) throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      return files
          .filter(file -> Objects.toString(file.getFileName()).startsWith("log_inprogress"))
          .findFirst()
          .orElseThrow();
    }
  }

  private static List<Long> numbers(Path root) throws IOException {
    try (ShardJournals journals = ShardJournals.open(TestShards.options(root))) {
      return TestShards.read(journals, 1, TestShards.ALL).stream()
          .map(TestShards.Read::number)
          .toList();
    }
  }

  @Test
  void aBitThatHasChangedIsFound() throws IOException {
    Path live = directory.resolve("live");
    Path killed = directory.resolve("killed");
    try (ShardJournals journals = ShardJournals.open(TestShards.options(live))) {
      int journal = TestShards.create(journals, TestShards.definition("orders"));
      for (int i = 1; i <= EVENTS; i++) {
        TestShards.await(TestShards.publish(journals, journal, "a", "p", i, 1).result());
      }
      // What a kill leaves: all that was confirmed is in the log, and not in the store.
      copy(live, killed);
    }
    byte[] log = Files.readAllBytes(log(killed));
    int end = log.length;
    while (log[end - 1] == 0) {
      end--;
    }
    for (int at = 0; at < end; at += STEP) {
      Path damaged = directory.resolve("damaged-" + at);
      copy(killed, damaged);
      byte[] bytes = log.clone();
      bytes[at] ^= (byte) (1 << at % Byte.SIZE);
      Files.write(log(damaged), bytes);
      assertThatThrownBy(() -> numbers(damaged))
          .as("byte %d of %d", at, end)
          .hasStackTraceContaining("orrupted");
    }
    assertThat(numbers(killed)).isEqualTo(LongStream.rangeClosed(1, EVENTS).boxed().toList());
  }
}
