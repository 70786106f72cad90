package io.eventbus.registry.faults;

import io.eventbus.registry.history.HistoryCheck;
import io.eventbus.registry.history.Operation;
import io.eventbus.registry.history.Operation.Kind;
import io.eventbus.registry.history.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Run of a cluster that is chosen by the seed: it starts from nothing, serves clients in peace,
 * then under faults, is killed as a whole, starts again, and is judged.
 */
final class FaultRun {
  private static final Duration PEACE = Duration.ofSeconds(3);
  private static final int REPEATED_AT_THE_END = 300;

  private final long seed;
  private final Duration length;
  private final Path directory;
  private final Random random;
  private final Recorder recorder = new Recorder();
  private final Acknowledged acknowledged = new Acknowledged(recorder);
  private final Cluster.Plan plan;

  private FaultRun(long seed, Duration length, Path directory) {
    this.seed = seed;
    this.length = length;
    this.directory = directory;
    this.random = new Random(seed);
    this.plan = plan(random);
  }

  /** Runs it; the directory has the buses' files and logs. */
  static Report run(long seed, Duration length, Path directory)
      throws IOException, InterruptedException {
    Files.createDirectories(directory);
    return new FaultRun(seed, length, directory).run();
  }

  private static Cluster.Plan plan(Random random) {
    int buses = random.nextInt(5) < 3 ? 3 : 5;
    return new Cluster.Plan(
        buses,
        buses == 5 && random.nextBoolean() ? 5 : 3,
        random.nextBoolean() ? 600_000 : 2_000,
        random.nextBoolean() ? 10_000 : 1_500,
        pick(random, 100, 500, 20_000),
        pick(random, 300, 2_000, 32_768),
        true,
        Cluster.Plan.SMALL);
  }

  private static int pick(Random random, int... values) {
    return values[random.nextInt(values.length)];
  }

  private Report run() throws IOException, InterruptedException {
    Map<Nemesis.Fault, Integer> faults = new HashMap<>();
    List<String> diary = new ArrayList<>();
    List<Long> delays = new ArrayList<>();
    String network;
    try (Cluster cluster = Cluster.create(plan, directory, new Random(), recorder)) {
      network = cluster.network().describe();
      Nemesis nemesis = new Nemesis(cluster, random.nextLong());
      try {
        cluster.start();
        oneCluster(cluster);
        CountDownLatch stop = new CountDownLatch(1);
        List<Thread> clients = clients(cluster, stop);
        var unused = stop.await(PEACE.toMillis(), TimeUnit.MILLISECONDS);
        long peaceEnds = System.nanoTime();
        nemesis.run(length);
        usable(cluster);
        killAndRestart(cluster, stop, clients);
        usable(cluster);
        readEverything(cluster);
        repeat(cluster);
        delays = delays(peaceEnds);
      } catch (IOException | AssertionError e) {
        recorder.finding("the run could not go on: " + e);
      }
      faults.putAll(nemesis.done());
      diary.addAll(nemesis.diary());
    }
    List<Operation> operations = recorder.operations();
    HistoryCheck check = HistoryCheck.of(operations);
    List<String> findings = new ArrayList<>(recorder.findings());
    findings.addAll(check.findings());
    Report report =
        new Report(
            seed,
            plan,
            network,
            faults,
            operations,
            check,
            recorder,
            acknowledged,
            delays,
            findings,
            diary);
    report.write(directory.resolve("report.txt"));
    return report;
  }

  private void oneCluster(Cluster cluster) {
    Set<String> ids = new TreeSet<>();
    cluster.buses().forEach(bus -> ids.add(bus.cluster()));
    if (ids.size() != 1) {
      recorder.finding("the buses formed several clusters: " + ids);
    }
  }

  private List<Thread> clients(Cluster cluster, CountDownLatch stop) {
    Topics topics = new Topics();
    List<Thread> threads = new ArrayList<>();
    int count = 5 + random.nextInt(4);
    for (int i = 0; i < count; i++) {
      Client client =
          new Client("c" + i, cluster, topics, acknowledged, stop, 10, random.nextLong());
      Thread thread = new Thread(client, "client-" + i);
      thread.setDaemon(true);
      thread.start();
      threads.add(thread);
    }
    return threads;
  }

  /** Checks that with all faults mended, every bus answers. */
  private void usable(Cluster cluster) throws IOException, InterruptedException {
    for (Bus bus : cluster.buses()) {
      long end = System.nanoTime() + Cluster.TIMEOUT.toNanos();
      while (readAll(bus) == null) {
        if (!bus.isUp()) {
          // Its engine has ended; so did the process, and this starts it again.
          bus.start();
        }
        if (System.nanoTime() > end) {
          recorder.finding(
              bus.name()
                  + " answers no read "
                  + Cluster.TIMEOUT
                  + " after everything was mended; status: "
                  + Cluster.status(bus));
          return;
        }
      }
    }
  }

  private static @Nullable Answer readAll(Bus bus) throws InterruptedException {
    Answer answer = bus.ask("read 2000 *", Duration.ofSeconds(3));
    return answer != null && answer.kind().equals("value") ? answer : null;
  }

  /** Sends SIGKILL to all at a moment of chance, while clients are at work. */
  private void killAndRestart(Cluster cluster, CountDownLatch stop, List<Thread> clients)
      throws IOException, InterruptedException {
    var unused = stop.await(500 + random.nextInt(1_000), TimeUnit.MILLISECONDS);
    for (Bus bus : cluster.buses()) {
      bus.kill();
    }
    stop.countDown();
    for (Thread client : clients) {
      client.join(Duration.ofSeconds(30).toMillis());
    }
    cluster.heal();
  }

  /** Reads every topic at every bus for the last time: part of the history. */
  private void readEverything(Cluster cluster) throws InterruptedException {
    Set<String> topics = new TreeSet<>();
    recorder.operations().forEach(o -> topics.add(o.topic()));
    for (Bus bus : cluster.buses()) {
      Answer answer = readAll(bus);
      if (answer == null) {
        recorder.finding(bus.name() + " did not answer the last read");
        continue;
      }
      Map<String, Outcome.Value> values = new HashMap<>();
      for (int i = 2; i + 2 < answer.words().size(); i += 3) {
        values.put(
            answer.word(i),
            new Outcome.Value(answer.word(i + 2), answer.number(i + 1), answer.number(1)));
      }
      for (String topic : topics) {
        recorder.operation(
            new Operation(
                "last." + bus.name() + "." + topic,
                "last@" + bus.name(),
                Kind.READ,
                topic,
                "",
                "",
                answer.invoked(),
                answer.returned(),
                values.getOrDefault(topic, new Outcome.Value("", 0, answer.number(1)))));
      }
    }
  }

  /** Checks that the answers from before the restarts are the same now. */
  private void repeat(Cluster cluster) throws InterruptedException {
    for (Acknowledged.Command command : acknowledged.last(REPEATED_AT_THE_END)) {
      Bus bus = cluster.buses().get(random.nextInt(cluster.buses().size()));
      acknowledged.compare(
          command.request(), command.outcome(), bus.ask(command.request(), Duration.ofSeconds(3)));
    }
  }

  /**
   * Returns the times from a command's return to its report on every bus, in nanoseconds, while all
   * was well.
   */
  private List<Long> delays(long peaceEnds) {
    List<Long> delays = new ArrayList<>();
    for (Operation operation : recorder.operations()) {
      // The last ones are left out: their reports may have come after the first fault.
      if (operation.outcome() instanceof Outcome.Applied applied
          && operation.returned() < peaceEnds - 200_000_000L) {
        long told = recorder.visibleEverywhere(plan.buses(), applied.version());
        if (told >= 0) {
          delays.add(Math.max(0, told - operation.returned()));
        }
      }
    }
    delays.sort(null);
    return delays;
  }
}
