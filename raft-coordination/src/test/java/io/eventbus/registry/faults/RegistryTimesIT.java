package io.eventbus.registry.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Times on real processes, as tables on standard output and in {@code target/faults/times.md}.
 * Judges no speed, and needs a machine that does nothing else.
 */
@EnabledOnOs(value = OS.LINUX, disabledReason = "signals and one clock for all processes")
@EnabledIfSystemProperty(named = "eventbus.faults.times", matches = "true")
@Timeout(900)
class RegistryTimesIT {
  private static final int CLIENTS = 10;
  private static final Cluster.Plan PLAN =
      new Cluster.Plan(
          3, 3, 600_000, 10_000, 20_000, 32_768, false, List.of("-Xms128m", "-Xmx256m"));

  private final Path directory;
  private final Recorder recorder = new Recorder();
  private final ConcurrentLinkedQueue<SteadyWriter.Success> successes =
      new ConcurrentLinkedQueue<>();
  private final CountDownLatch stop = new CountDownLatch(1);
  private final List<Thread> writers = new ArrayList<>();

  RegistryTimesIT(@TempDir Path directory) {
    this.directory = directory;
  }

  private void startWriters(Cluster cluster, int count, int thinkMillis) {
    for (int i = 0; i < count; i++) {
      Thread thread =
          new Thread(new SteadyWriter(i, cluster, successes, stop, thinkMillis), "writer-" + i);
      thread.setDaemon(true);
      thread.start();
      writers.add(thread);
    }
  }

  private void stopWriters() throws InterruptedException {
    stop.countDown();
    for (Thread writer : writers) {
      writer.join(TimeUnit.SECONDS.toMillis(15));
    }
  }

  private void pass(long millis) throws InterruptedException {
    assertThat(stop.await(millis, TimeUnit.MILLISECONDS)).isFalse();
  }

  private static void print(String text) throws IOException {
    System.out.println(text);
    Path file = Path.of("target", "faults", "times.md");
    Files.createDirectories(Objects.requireNonNull(file.getParent()));
    Files.writeString(file, text + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  /**
   * Measures the time from a kill of the leader's process, while clients write, to the end of the
   * longest interval without a success, and until the last client has had one.
   */
  @Test
  void writeGapAfterTheLeadersDeath() throws Exception {
    int kills = Integer.getInteger("eventbus.faults.kills", 20);
    List<Long> first = new ArrayList<>();
    List<Long> all = new ArrayList<>();
    StringBuilder table =
        new StringBuilder("| kill | leader | next | writes again ms | all clients ms |\n")
            .append("|---|---|---|---|---|\n");
    try (Cluster cluster = Cluster.create(PLAN, directory, new Random(), recorder)) {
      cluster.start();
      startWriters(cluster, CLIENTS, 0);
      pass(5_000);
      Random random = new Random(20);
      for (int kill = 1; kill <= kills; kill++) {
        pass(500 + random.nextInt(1_000));
        Cluster.until("there is a leader", () -> cluster.leader() != null);
        Bus leader = Objects.requireNonNull(cluster.leader());
        successes.clear();
        pass(50);
        long killed = System.nanoTime();
        leader.kill();
        Cluster.until("every client writes again", () -> again(killed) >= 0);
        first.add(gapEnd(killed) - killed);
        all.add(again(killed) - killed);
        Cluster.until("there is a leader", () -> cluster.leader() != null);
        table.append(
            String.format(
                "| %d | %s | %s | %.0f | %.0f |%n",
                kill,
                leader.name(),
                Objects.requireNonNull(cluster.leader()).name(),
                first.get(kill - 1) / 1e6,
                all.get(kill - 1) / 1e6));
        leader.start();
        leader.awaitStarted(Cluster.TIMEOUT);
      }
      stopWriters();
    }
    first.sort(null);
    all.sort(null);
    print(
        table
            + "\n"
            + kills
            + " kills, "
            + CLIENTS
            + " clients; writes again after p50/p99/max ms: "
            + Report.percentiles(first)
            + "; all clients: "
            + Report.percentiles(all)
            + "\n");
    assertThat(recorder.findings()).isEmpty();
  }

  /**
   * Returns the end of the longest interval without a success that ends after the kill. Answers of
   * the old leader may still come in a moment after.
   */
  private long gapEnd(long killed) {
    List<Long> times =
        successes.stream()
            .map(SteadyWriter.Success::returned)
            .sorted(Comparator.naturalOrder())
            .toList();
    long before = killed;
    long longest = 0;
    long end = killed;
    for (long time : times) {
      if (time > killed) {
        if (time - before > longest) {
          longest = time - before;
          end = time;
        }
        before = time;
      }
    }
    return end;
  }

  /**
   * Returns the time when the last of the clients had its first success after the gap; -1 if one
   * has not yet.
   */
  private long again(long killed) {
    List<SteadyWriter.Success> since =
        successes.stream().filter(s -> s.returned() > killed).toList();
    long end = gapEnd(killed);
    long last = -1;
    for (int client = 0; client < CLIENTS; client++) {
      int wanted = client;
      long own =
          since.stream()
              .filter(s -> s.client() == wanted && s.returned() >= end)
              .mapToLong(SteadyWriter.Success::returned)
              .min()
              .orElse(-1);
      if (own < 0) {
        return -1;
      }
      last = Math.max(last, own);
    }
    return last;
  }

  /** Measures the time from a command's return to its report to the listeners of every bus. */
  @Test
  void delayUntilAChangeIsVisibleOnEveryBus() throws Exception {
    StringBuilder table =
        new StringBuilder("| clients, pause | changes | visible on every bus p50/p99/max ms |\n")
            .append("|---|---|---|\n");
    try (Cluster cluster = Cluster.create(PLAN, directory, new Random(), recorder)) {
      cluster.start();
      startWriters(cluster, CLIENTS, 20);
      pass(15_000);
      successes.clear();
      pass(20_000);
      List<SteadyWriter.Success> measured = new ArrayList<>(successes);
      stopWriters();
      Cluster.until(
          "all is told",
          () ->
              measured.stream()
                  .allMatch(s -> recorder.visibleEverywhere(PLAN.buses(), s.version()) >= 0));
      List<Long> delays = new ArrayList<>();
      for (SteadyWriter.Success success : measured) {
        long told = recorder.visibleEverywhere(PLAN.buses(), success.version());
        delays.add(Math.max(0, told - success.returned()));
      }
      delays.sort(null);
      table.append(
          String.format(
              "| %d, 20 ms | %d | %s |%n", CLIENTS, delays.size(), Report.percentiles(delays)));
    }
    print(table.toString());
    assertThat(recorder.findings()).isEmpty();
  }
}
