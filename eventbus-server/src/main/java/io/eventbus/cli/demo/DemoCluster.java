package io.eventbus.cli.demo;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import io.eventbus.cli.console.StopHook;
import io.eventbus.cli.demo.DemoBusProcess.Address;
import io.eventbus.server.config.ConfigKey;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Buses of the demo: processes that are one cluster, with a directory for all of them. Nothing is
 * left of either when it is closed, or when this process is interrupted or killed, but for the
 * directory in the last case. For one thread; only the end may come on another.
 */
final class DemoCluster implements AutoCloseable {
  /** Share of its capacity above which a bus is overloaded. */
  static final int HIGH_PERCENT = 70;

  static final int LOW_PERCENT = 55;

  private static final Duration START_TIMEOUT = Duration.ofSeconds(60);
  private static final Duration END_TIMEOUT = Duration.ofSeconds(5);
  private static final int MAX_VOTERS = 3;
  private static final long POLL_MILLIS = 100;
  private static final int SECRET_BYTES = 16;

  private final Path directory;
  private final long capacity;
  private final String secret;
  private final List<DemoBusProcess> processes = new ArrayList<>();
  private final List<DemoBus> buses = new ArrayList<>();
  private final Object ending = new Object();
  private final StopHook hook = new StopHook(this::end);
  private boolean ended;

  private DemoCluster(Path directory, long capacity) {
    this.directory = directory;
    this.capacity = capacity;
    byte[] random = new byte[SECRET_BYTES];
    new SecureRandom().nextBytes(random);
    this.secret = HexFormat.of().formatHex(random);
  }

  /**
   * Starts buses and waits until they are one cluster, in which each forwards to all others.
   *
   * @param capacity events in a second that are full load of a bus
   * @throws CliFailure if that fails or takes too long
   */
  static DemoCluster start(int count, long capacity) throws InterruptedException {
    DemoCluster cluster;
    try {
      cluster = new DemoCluster(Files.createTempDirectory("eventbus-demo-"), capacity);
    } catch (IOException e) {
      throw new CliFailure(
          ExitCode.FAILED, "no directory for the buses: " + Failures.describe(e), e);
    }
    try {
      cluster.open(count);
      return cluster;
    } catch (InterruptedException | RuntimeException | Error e) {
      cluster.close();
      throw e;
    }
  }

  private void open(int count) throws InterruptedException {
    long end = System.nanoTime() + START_TIMEOUT.toNanos();
    // The first reports where it takes links: so no port has to be chosen here, and found in use.
    add(launch(1, ""), end);
    String seed = linkAddress(buses.get(0), end);
    List<DemoBusProcess> others = new ArrayList<>();
    for (int i = 2; i <= count; i++) {
      others.add(launch(i, seed));
    }
    for (DemoBusProcess other : others) {
      add(other, end);
    }
    for (DemoBus bus : buses) {
      while (!knowsAll(bus)) {
        pause(end, bus.name() + " is not in one cluster with all others");
      }
    }
  }

  private DemoBusProcess launch(int number, String seed) {
    Map<ConfigKey, String> settings = new EnumMap<>(ConfigKey.class);
    String name = "bus-" + number;
    settings.put(ConfigKey.BUS_NAME, name);
    settings.put(ConfigKey.LISTEN_HOST, "127.0.0.1");
    settings.put(ConfigKey.LISTEN_PORT, "0");
    settings.put(ConfigKey.LISTEN_EVENT_LOOPS, "1");
    settings.put(ConfigKey.ADMIN_PORT, "0");
    settings.put(ConfigKey.CLUSTER_HOST, "127.0.0.1");
    settings.put(ConfigKey.CLUSTER_PORT, "0");
    settings.put(ConfigKey.CLUSTER_DIRECTORY, directory.resolve(name).toString());
    settings.put(ConfigKey.CLUSTER_JOIN, seed);
    settings.put(ConfigKey.CLUSTER_SECRET, secret);
    settings.put(ConfigKey.BALANCE_CAPACITY_EVENTS, Long.toString(capacity));
    settings.put(ConfigKey.BALANCE_HIGH_PERCENT, Integer.toString(HIGH_PERCENT));
    settings.put(ConfigKey.BALANCE_LOW_PERCENT, Integer.toString(LOW_PERCENT));
    settings.put(ConfigKey.BALANCE_OVERLOAD_AFTER, "1s");
    settings.put(ConfigKey.TIMEOUTS_SHUTDOWN, "1s");
    synchronized (processes) {
      if (ended) {
        throw new CliFailure(ExitCode.FAILED, "the demo was stopped");
      }
      DemoBusProcess process = DemoBusProcess.start(settings);
      processes.add(process);
      return process;
    }
  }

  private void add(DemoBusProcess process, long end) throws InterruptedException {
    Address address = process.await(Duration.ofNanos(Math.max(1_000_000, end - System.nanoTime())));
    buses.add(new DemoBus(process, address));
  }

  private static String linkAddress(DemoBus first, long end) throws InterruptedException {
    while (true) {
      JsonNode self = first.members().get(first.name());
      String address = self == null ? "" : self.path("address").asText();
      if (!address.isEmpty()) {
        return address;
      }
      pause(end, first.name() + " has founded no cluster");
    }
  }

  /**
   * Returns whether it has lanes to all others and has heard from them, and enough of them vote.
   */
  private boolean knowsAll(DemoBus bus) throws InterruptedException {
    Map<String, JsonNode> known = bus.buses();
    long voters =
        bus.members().values().stream()
            .filter(m -> !m.path("role").asText().equals("LISTENER"))
            .count();
    return known.size() == buses.size()
        && known.values().stream().allMatch(DemoCluster::isHeard)
        && voters >= Math.min(MAX_VOTERS, buses.size())
        && bus.figures().lanes() >= buses.size() - 1;
  }

  private static boolean isHeard(JsonNode bus) {
    return bus.path("state").asText().equals("UP") && bus.path("clients").asLong(-1) >= 0;
  }

  private static void pause(long end, String otherwise) throws InterruptedException {
    if (System.nanoTime() - end >= 0) {
      throw new CliFailure(
          ExitCode.FAILED, otherwise + " within " + START_TIMEOUT.toSeconds() + " s");
    }
    Thread.sleep(POLL_MILLIS);
  }

  /** Returns the buses, the first one first; those that were ended among them. */
  List<DemoBus> buses() {
    return buses;
  }

  /** Kills running processes, waits for them, and deletes the directory. Any thread. */
  private void end() {
    // Two threads that delete the same files at once make each other fail: the second waits for
    // the first.
    synchronized (ending) {
      endAlone();
    }
  }

  private void endAlone() {
    List<DemoBusProcess> all;
    synchronized (processes) {
      ended = true;
      all = List.copyOf(processes);
    }
    all.forEach(DemoBusProcess::kill);
    try {
      for (DemoBusProcess process : all) {
        process.awaitEnd(END_TIMEOUT);
      }
      delete();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void delete() {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException | UncheckedIOException e) {
      // The system's directory for temporary files has it, and is cleaned up with it.
      return;
    }
  }

  @Override
  public void close() {
    end();
    hook.close();
  }
}
