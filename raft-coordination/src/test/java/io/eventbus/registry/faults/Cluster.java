package io.eventbus.registry.faults;

import io.eventbus.registry.Endpoint;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Buses as processes, in a network of their own. */
final class Cluster implements AutoCloseable {
  /** Configuration of the buses of a cluster. */
  record Plan(
      int buses,
      int voters,
      long replaceVoterAfterMillis,
      long leaseMillis,
      int snapshotEntries,
      int rememberedCommands,
      boolean partitions,
      List<String> jvm) {

    /** JVM options for a fast start and little memory. */
    static final List<String> SMALL =
        List.of(
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Xms48m",
            "-Xmx96m",
            "-Deventbus.test.log=INFO");

    static Plan of(int buses) {
      return new Plan(buses, buses, 600_000, 10_000, 20_000, 32_768, true, SMALL);
    }
  }

  static final Duration TIMEOUT = Duration.ofSeconds(60);

  private final Plan plan;
  private final Network network;
  private final Recorder recorder;
  private final List<Bus> buses = new ArrayList<>();
  private final Thread cleaner = new Thread(this::closeQuietly, "cluster-cleaner");

  private Cluster(Plan plan, Network network, Recorder recorder) {
    this.plan = plan;
    this.network = network;
    this.recorder = recorder;
  }

  /** Creates the buses; none runs yet. They look for each other at fixed addresses of their own. */
  static Cluster create(Plan plan, Path directory, Random random, Recorder recorder)
      throws IOException, InterruptedException {
    Network network = plan.partitions() ? NamespaceNetwork.create(plan.buses(), random) : null;
    if (network == null) {
      network = new LoopbackNetwork(random);
    }
    Cluster cluster = new Cluster(plan, network, recorder);
    Runtime.getRuntime().addShutdownHook(cluster.cleaner);
    List<Endpoint> seeds = new ArrayList<>();
    for (int i = 0; i < plan.buses(); i++) {
      seeds.add(new Endpoint(network.host(i), cluster.port(i)));
    }
    List<String> java = new ArrayList<>();
    java.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    java.addAll(plan.jvm());
    for (int i = 0; i < plan.buses(); i++) {
      String name = "bus-" + (char) ('a' + i);
      BusSettings settings =
          new BusSettings(
              name,
              directory.resolve(name).toString(),
              network.host(i),
              seeds.get(i).port(),
              seeds,
              plan.voters(),
              plan.replaceVoterAfterMillis(),
              plan.leaseMillis(),
              plan.snapshotEntries(),
              plan.rememberedCommands());
      cluster.buses.add(new Bus(i, settings, network, java, recorder));
    }
    return cluster;
  }

  /**
   * Returns a port for a bus. On an address that is the bus's alone, one that is free stays free;
   * in a namespace every port is.
   */
  private int port(int bus) throws IOException {
    if (network.canPartition()) {
      return 7_000;
    }
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(InetAddress.getByName(network.host(bus)), 0));
      return socket.getLocalPort();
    }
  }

  Plan plan() {
    return plan;
  }

  Network network() {
    return network;
  }

  Recorder recorder() {
    return recorder;
  }

  List<Bus> buses() {
    return buses;
  }

  /** Starts all at once and waits until all accept commands and the right number votes. */
  void start() throws IOException, InterruptedException {
    for (Bus bus : buses) {
      bus.start();
    }
    for (Bus bus : buses) {
      bus.awaitStarted(TIMEOUT);
    }
    int voting = Math.min(plan.voters(), plan.buses());
    until(voting + " buses vote", () -> buses.stream().allMatch(b -> voters(b) == voting));
  }

  /**
   * Returns the number of voters, as a bus knows it; -1 if it does not say or they are being
   * changed.
   */
  private static int voters(Bus bus) {
    List<String> status = status(bus);
    return status == null || status.get(5).equals("true") || status.get(6).equals("v")
        ? -1
        : status.get(6).split(",", -1).length;
  }

  /** Returns the words of a status, see {@link BusCommands}; the first one is "is". */
  static @Nullable List<String> status(Bus bus) {
    Answer answer = askQuietly(bus, "status");
    return answer == null ? null : answer.words();
  }

  /** Returns the bus that claims to lead in the latest term; null if none does. */
  @Nullable Bus leader() {
    Bus leader = null;
    long term = -1;
    for (Bus bus : buses) {
      List<String> status = bus.isUp() && !bus.isPaused() ? status(bus) : null;
      if (status != null
          && status.get(2).equals("LEADER")
          && Long.parseLong(status.get(4)) > term) {
        leader = bus;
        term = Long.parseLong(status.get(4));
      }
    }
    return leader;
  }

  /** Waits for a bus that claims to lead. */
  Bus awaitLeader() throws InterruptedException {
    AtomicReference<@Nullable Bus> leader = new AtomicReference<>();
    until(
        "there is a leader",
        () -> {
          leader.set(leader());
          return leader.get() != null;
        });
    return Objects.requireNonNull(leader.get());
  }

  /** Mends the network, lets all run, and waits until all accept commands. */
  void heal() throws IOException, InterruptedException {
    network.heal();
    for (Bus bus : buses) {
      bus.resume();
      if (!bus.isUp()) {
        bus.start();
      }
    }
    for (Bus bus : buses) {
      awaitStarted(bus);
    }
  }

  /**
   * Waits for the start of a bus; starts it again if its engine has ended meanwhile, as its
   * supervisor would.
   */
  private static void awaitStarted(Bus bus) throws IOException, InterruptedException {
    for (int starts = 0; ; starts++) {
      try {
        bus.awaitStarted(TIMEOUT);
        return;
      } catch (IOException e) {
        if (bus.isUp() || starts == 3) {
          throw e;
        }
        bus.start();
      }
    }
  }

  /** Waits until all buses have the same registry, of at least that version. */
  void awaitAgreement(long version) throws InterruptedException {
    for (Bus bus : buses) {
      until(
          bus.name() + " has version " + version,
          () -> {
            Answer answer = askQuietly(bus, "status");
            return answer != null && answer.localVersion() >= version;
          });
    }
  }

  /** Asks; returns null if nothing is answered within 2 seconds. */
  static @Nullable Answer askQuietly(Bus bus, String request) {
    try {
      return bus.ask(request, Duration.ofSeconds(2));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    }
  }

  /** Waits until the condition holds; looks again every few milliseconds. */
  static void until(String what, BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + TIMEOUT.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new AssertionError("not within " + TIMEOUT + ": " + what);
      }
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  private void closeQuietly() {
    try {
      release();
    } catch (IOException e) {
      // Nobody is left to hear of it.
    }
  }

  private void release() throws IOException {
    for (Bus bus : buses) {
      try {
        bus.kill();
      } catch (InterruptedException e) {
        // All processes have to end all the same.
        Thread.currentThread().interrupt();
      }
    }
    network.close();
  }

  @Override
  public void close() throws IOException {
    Runtime.getRuntime().removeShutdownHook(cleaner);
    release();
  }
}
