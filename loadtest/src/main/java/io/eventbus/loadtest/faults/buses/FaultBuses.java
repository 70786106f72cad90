package io.eventbus.loadtest.faults.buses;

import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverStopHook;
import io.eventbus.loadtest.driver.FreePorts;
import io.eventbus.loadtest.driver.JavaCommand;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Buses with durable topics: one alone, or several of a cluster. For one thread. */
public final class FaultBuses implements AutoCloseable {
  private static final String MAIN = "io.eventbus.cli.Main";
  private static final int KEY_BYTES = 32;
  private static final long DISK_BYTES = 512L << 20;

  /** Kinds of ports. */
  private static final int CLIENTS = 0;

  private static final int OPERATORS = 1;
  private static final int BUSES = 2;

  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final List<FaultBus> buses = new CopyOnWriteArrayList<>();
  private final List<LoopDisk> disks = new ArrayList<>();
  private @Nullable BusNetwork network;
  private final DriverStopHook hook;

  private FaultBuses() {
    // Disks are unmounted by hooks of their own, which wait for the processes.
    hook = DriverStopHook.add("buses", this::killAll);
  }

  /**
   * Settings of the buses.
   *
   * @param jar of the buses; null for those on the class path
   * @param directory for data and logs
   * @param losePower whether each has a file system of its own
   * @param failWrites whether these are in memory, so that writes can fail
   * @param partitions whether they have a network of their own
   */
  public record Settings(
      int count,
      @Nullable Path jar,
      List<String> jvmOptions,
      Path directory,
      boolean losePower,
      boolean failWrites,
      boolean partitions) {
    /** Copies the list. */
    public Settings {
      jvmOptions = List.copyOf(jvmOptions);
    }
  }

  /** Prepares buses; starts nothing. */
  public static FaultBuses prepare(Settings settings) {
    FaultBuses all = new FaultBuses();
    try {
      byte[] bytes = new byte[KEY_BYTES];
      new SecureRandom().nextBytes(bytes);
      String secret = HexFormat.of().formatHex(bytes);
      Path file = settings.directory().resolve("secret");
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      Files.writeString(file, secret);
      if (settings.partitions()) {
        all.network = BusNetwork.create(settings.count());
      }
      List<Integer> ports = FreePorts.find(3 * settings.count());
      List<Address> addresses =
          IntStream.range(0, settings.count())
              .mapToObj(i -> new Address(all.host(i), ports.subList(3 * i, 3 * i + 3)))
              .toList();
      for (int i = 0; i < settings.count(); i++) {
        all.add(settings, i, addresses, file, secret);
      }
      return all;
    } catch (IOException e) {
      all.close();
      throw new DriverException("no data in " + settings.directory(), e);
    } catch (RuntimeException e) {
      all.close();
      throw e;
    }
  }

  /**
   * Addresses of a bus.
   *
   * @param ports for clients, operators and other buses
   */
  private record Address(String host, List<Integer> ports) {
    String port(int kind) {
      return ports.get(kind).toString();
    }

    URI uri(String scheme, int kind, String path) {
      return URI.create(scheme + "://" + host + ":" + port(kind) + path);
    }
  }

  private String host(int number) {
    return network == null ? "127.0.0.1" : network.host(number);
  }

  private void add(
      Settings settings, int number, List<Address> addresses, Path file, String secret) {
    String name = "bus-" + (number + 1);
    Address address = addresses.get(number);
    @Nullable LoopDisk disk = null;
    if (settings.losePower() || settings.failWrites()) {
      disk =
          LoopDisk.create(settings.directory(), "disk-" + name, DISK_BYTES, settings.failWrites());
      disks.add(disk);
    }
    // Not the root of a file system, which is not empty.
    Path data = (disk == null ? settings.directory() : disk.directory()).resolve("data-" + name);
    List<String> arguments = new ArrayList<>(List.of("serve", "--host", address.host()));
    arguments.addAll(List.of("--name", name, "--data", data.toString()));
    arguments.addAll(List.of("--port", address.port(CLIENTS)));
    arguments.addAll(List.of("--admin-port", address.port(OPERATORS)));
    arguments.addAll(List.of("--set", "admin.host=" + address.host()));
    arguments.addAll(List.of("--set", "admin.token-file=" + file));
    arguments.addAll(List.of("--set", "admin.plaintext=true"));
    arguments.addAll(List.of("--set", "auth.anonymous=everyone"));
    arguments.addAll(List.of("--set", "auth.block=everyone"));
    arguments.addAll(List.of("--set", "auth.resume-key-file=" + file));
    if (settings.count() > 1) {
      arguments.addAll(List.of("--cluster-host", address.host()));
      arguments.addAll(List.of("--cluster-port", address.port(BUSES)));
      arguments.addAll(List.of("--set", "cluster.secret-file=" + file));
      arguments.addAll(
          List.of(
              "--join",
              addresses.stream()
                  .map(other -> other.host() + ":" + other.port(BUSES))
                  .collect(Collectors.joining(","))));
    }
    @Nullable Path jar = settings.jar();
    String classPath = jar == null ? System.getProperty("java.class.path") : jar.toString();
    List<String> command = new ArrayList<>(network == null ? List.of() : network.prefix(number));
    command.addAll(JavaCommand.of(settings.jvmOptions(), classPath, MAIN, arguments));
    buses.add(
        new FaultBus(
            name,
            command,
            data,
            settings.directory(),
            address.uri("ws", CLIENTS, "/bus"),
            new BusAnswers(name, address.uri("http", OPERATORS, ""), secret),
            disk));
  }

  /** Returns all buses. */
  public List<FaultBus> all() {
    return List.copyOf(buses);
  }

  /** Returns the bus that leads the replicas, as some bus knows it; a bus alone is the leader. */
  public Optional<FaultBus> leader() {
    if (buses.size() == 1) {
      return Optional.of(buses.get(0));
    }
    return buses.stream()
        .filter(bus -> bus.isUp() && !bus.isPaused())
        .flatMap(bus -> bus.state().leader().stream())
        .flatMap(name -> buses.stream().filter(bus -> bus.name().equals(name)))
        .findFirst();
  }

  private Set<String> lost() {
    return buses.stream().flatMap(bus -> bus.lost().stream()).collect(Collectors.toSet());
  }

  /** Returns whether each bus has a replica that votes, and that its leader has heard of. */
  public boolean areWhole() {
    return buses.size() == 1
        || leader().filter(bus -> bus.state().hasReplicas(buses.size(), lost())).isPresent();
  }

  /**
   * Waits until something is so.
   *
   * @return false if it is not so after the deadline
   */
  public static boolean await(BooleanSupplier condition, Duration deadline) {
    long end = System.nanoTime() + deadline.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - end > 0 || Thread.currentThread().isInterrupted()) {
        return false;
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
    return true;
  }

  /**
   * Loses all packets from one bus to another, until {@link #heal}.
   *
   * @throws DriverException if the buses have no network of their own
   */
  public void cut(FaultBus from, FaultBus to) {
    if (network == null) {
      throw new DriverException("the buses have no network of their own");
    }
    network.cut(buses.indexOf(from), buses.indexOf(to));
  }

  /** Loses no packets any more. */
  public void heal() {
    if (network != null) {
      network.heal();
    }
  }

  private void killAll() {
    buses.forEach(FaultBus::kill);
  }

  /** Kills all, and removes their file systems. */
  @Override
  public void close() {
    hook.close();
    killAll();
    disks.forEach(LoopDisk::close);
    if (network != null) {
      network.close();
    }
  }
}
