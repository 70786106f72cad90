package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.AppendListener;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.Published;
import io.eventbus.journal.codec.TestEntries;
import io.eventbus.journal.ratis.TestShards.Read;
import io.eventbus.journal.state.ShardLimits;
import io.eventbus.journal.store.FlushPolicy;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process that publishes is killed in the middle. What it was told to be confirmed is there, at
 * its position, and nothing is there twice.
 */
class ShardCrashTest {
  private static final int ROUNDS = 3;
  private static final int CONFIRMED = 400;
  private static final int TOPICS = 5;

  private final Path directory;

  ShardCrashTest(@TempDir Path directory) {
    this.directory = directory;
  }

  /** Settings with which rows reach the disk, and the log is cut, now and then. */
  private static ShardOptions options(Path directory) {
    return TestShards.options(
        directory,
        ShardLimits.DEFAULT,
        System::currentTimeMillis,
        new FlushPolicy(256 << 10, Duration.ofMillis(300)));
  }

  /** Process that is killed. Prints each confirmation: number and position. */
  static final class Publishing {
    private Publishing() {}

    public static void main(String[] args) throws Exception {
      PrintStream out = new PrintStream(System.out, true, StandardCharsets.US_ASCII);
      long first = Long.parseLong(args[1]);
      ShardJournals journals = ShardJournals.open(options(Path.of(args[0])));
      int journal = TestShards.create(journals, TestShards.definition("orders"));
      Semaphore window = new Semaphore(32);
      for (long number = first; ; number++) {
        if (!window.tryAcquire(30, TimeUnit.SECONDS)) {
          throw new IllegalStateException("no answer in 30 s");
        }
        long sent = number;
        // The number before it in this topic.
        long previous = number - TOPICS < first ? -1 : number - TOPICS;
        boolean accepted =
            journals.append(
                TestEntries.head(
                    journal, "t." + number % TOPICS, "p" + first, number, previous, 0, 0, 0),
                TestShards.events(number, 1, 1_000),
                new AppendListener() {
                  @Override
                  public void completed(RecordResult result) {
                    out.println(sent + " " + ((Published) result).position());
                    window.release();
                  }

                  @Override
                  public void unavailable(JournalsUnavailableException cause) {
                    throw cause;
                  }
                });
        if (!accepted) {
          throw new IllegalStateException("no room for 32 events");
        }
      }
    }
  }

  @Test
  @Timeout(240)
  void whatWasConfirmedIsThereOnceAfterAKill() throws IOException, InterruptedException {
    Map<Long, Long> confirmed = new HashMap<>();
    for (int round = 1; round <= ROUNDS; round++) {
      publishAndKill(1_000_000L * round, confirmed);
      try (ShardJournals journals = ShardJournals.open(options(directory))) {
        assertAllThere(TestShards.read(journals, 1, TestShards.ALL), confirmed);
      }
    }
    assertThat(confirmed).hasSizeGreaterThanOrEqualTo(ROUNDS * CONFIRMED);
  }

  private static void assertAllThere(List<Read> events, Map<Long, Long> confirmed) {
    Set<Long> numbers = new HashSet<>();
    Map<Long, Long> found = new HashMap<>();
    for (int i = 0; i < events.size(); i++) {
      Read event = events.get(i);
      assertThat(event.position()).as("dense").isEqualTo(i + 1L);
      assertThat(numbers.add(event.number())).as("twice: %s", event).isTrue();
      found.put(event.number(), event.position());
    }
    confirmed.forEach(
        (number, position) -> assertThat(found.get(number)).as("%d", number).isEqualTo(position));
  }

  private void publishAndKill(long first, Map<Long, Long> confirmed)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp"));
    command.add(System.getProperty("java.class.path"));
    command.addAll(List.of(Publishing.class.getName(), directory.toString(), "" + first));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try (BufferedReader said =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII))) {
      int count = 0;
      for (String line = said.readLine(); line != null; line = said.readLine()) {
        if (line.matches("\\d+ \\d+")) {
          String[] words = line.split(" ", -1);
          confirmed.put(Long.valueOf(words[0]), Long.valueOf(words[1]));
          count++;
        }
        if (count == CONFIRMED) {
          // Not by the process itself: that closes the stream with what it has said.
          assertThat(process.toHandle().destroyForcibly()).isTrue();
        }
      }
      assertThat(count).as("confirmed before the process ended").isGreaterThanOrEqualTo(CONFIRMED);
    } finally {
      process.destroyForcibly();
    }
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
  }
}
