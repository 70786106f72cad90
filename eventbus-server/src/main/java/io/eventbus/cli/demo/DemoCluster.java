package io.eventbus.cli.demo;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.StopHook;
import io.eventbus.cli.demo.DemoBusProcess.Address;
import io.eventbus.server.config.ConfigKey;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * Buses of the demo: processes that are one cluster, with a directory for all of them. Nothing is
 * left of either when it is closed, or when this process is interrupted or killed, but for the
 * directory in the last case. For one thread; only the end may come on another.
 */
final class DemoCluster implements AutoCloseable {
  /** Share of its capacity above which a bus is overloaded. */
  static final int HIGH_PERCENT = 70;

  static final int LOW_PERCENT = 55;

  private static final Duration START_TIMEOUT = Duration.ofMinutes(2);
  private static final Duration END_TIMEOUT = Duration.ofSeconds(5);
  private static final String ANY_PORT = "0";
  private static final int MAX_VOTERS = 3;
  private static final long POLL_MILLIS = 100;
  private static final int SECRET_BYTES = 16;

  private final DemoDirectory directory;
  private final Map<ConfigKey, String> settings;
  private final boolean durable;
  private final String secret;
  private final List<DemoBusProcess> processes = new ArrayList<>();
  private final List<DemoBus> buses = new ArrayList<>();
  private final Object ending = new Object();
  private final StopHook hook = new StopHook(this::end);
  private boolean ended;

  private DemoCluster(DemoDirectory directory, Map<ConfigKey, String> settings, boolean durable) {
    this.directory = directory;
    this.settings = settings;
    this.durable = durable;
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
    return start(
        count,
        Map.of(
            ConfigKey.BALANCE_CAPACITY_EVENTS, Long.toString(capacity),
            ConfigKey.BALANCE_HIGH_PERCENT, Integer.toString(HIGH_PERCENT),
            ConfigKey.BALANCE_LOW_PERCENT, Integer.toString(LOW_PERCENT),
            ConfigKey.BALANCE_OVERLOAD_AFTER, "1s"),
        false);
  }

  /**
   * Starts the same with a data directory for each bus. None moves clients because of load.
   *
   * @throws CliFailure if that fails or takes too long
   */
  static DemoCluster startDurable(int count) throws InterruptedException {
    return start(count, Map.of(ConfigKey.BALANCE_ENABLED, "false"), true);
  }

  private static DemoCluster start(int count, Map<ConfigKey, String> settings, boolean durable)
      throws InterruptedException {
    DemoCluster cluster = new DemoCluster(DemoDirectory.create(), settings, durable);
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
    buses.add(await(launch(name(1), "", ANY_PORT), end));
    String seed = linkAddress(buses.get(0), name(1), end);
    List<DemoBusProcess> others = new ArrayList<>();
    for (int i = 2; i <= count; i++) {
      others.add(launch(name(i), seed, ANY_PORT));
    }
    for (DemoBusProcess other : others) {
      buses.add(await(other, end));
    }
    for (DemoBus bus : buses) {
      while (!knowsAll(bus)) {
        pause(end, bus.name() + " is not in one cluster with all others");
      }
    }
  }

  /**
   * Starts a bus again that has ended, with its directory, and waits until it listens.
   *
   * @param asked another bus, which knows where it took links
   * @throws CliFailure if that fails or takes too long
   */
  DemoBus restart(DemoBus ended, DemoBus asked) throws InterruptedException {
    long end = System.nanoTime() + START_TIMEOUT.toNanos();
    String name = ended.name();
    String link = linkAddress(asked, name, end);
    // The others look for it there.
    String port = link.substring(link.lastIndexOf(':') + 1);
    ended.process().awaitEnd(END_TIMEOUT);
    String seed = linkAddress(asked, asked.name(), end);
    DemoBus again = await(launch(name, seed, port), end);
    buses.set(buses.indexOf(ended), again);
    return again;
  }

  private static String name(int number) {
    return "bus-" + number;
  }

  private DemoBusProcess launch(String name, String seed, String port) {
    Map<ConfigKey, String> settings = new EnumMap<>(this.settings);
    settings.put(ConfigKey.BUS_NAME, name);
    settings.put(ConfigKey.LISTEN_HOST, "127.0.0.1");
    settings.put(ConfigKey.LISTEN_PORT, "0");
    settings.put(ConfigKey.LISTEN_EVENT_LOOPS, "1");
    settings.put(ConfigKey.ADMIN_PORT, "0");
    settings.put(ConfigKey.CLUSTER_HOST, "127.0.0.1");
    settings.put(ConfigKey.CLUSTER_PORT, port);
    Path own = directory.path().resolve(name);
    settings.put(ConfigKey.CLUSTER_DIRECTORY, own.resolve("registry").toString());
    if (durable) {
      settings.put(ConfigKey.DURABLE_DIRECTORY, own.toString());
    }
    settings.put(ConfigKey.CLUSTER_JOIN, seed);
    settings.put(ConfigKey.CLUSTER_SECRET, secret);
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

  private static DemoBus await(DemoBusProcess process, long end) throws InterruptedException {
    Address address = process.await(Duration.ofNanos(Math.max(1_000_000, end - System.nanoTime())));
    return new DemoBus(process, address);
  }

  /** Returns where a bus takes links, as the registry says at another bus or at itself. */
  private static String linkAddress(DemoBus asked, String name, long end)
      throws InterruptedException {
    while (true) {
      JsonNode found = asked.members().get(name);
      String address = found == null ? "" : found.path("address").asText();
      if (!address.isEmpty()) {
        return address;
      }
      pause(end, asked.name() + " knows no address of " + name);
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
      directory.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    end();
    hook.close();
  }
}
