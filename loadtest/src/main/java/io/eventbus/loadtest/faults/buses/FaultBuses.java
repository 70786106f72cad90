package io.eventbus.loadtest.faults.buses;

import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverStopHook;
import io.eventbus.loadtest.driver.FreePorts;
import io.eventbus.loadtest.driver.JavaCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Buses with durable topics: one alone, or several of a cluster. For one thread. */
public final class FaultBuses implements AutoCloseable {
  private static final String MAIN = "io.eventbus.cli.Main";
  private static final int KEY_BYTES = 32;
  private static final long DISK_BYTES = 512L << 20;
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final List<FaultBus> buses = new CopyOnWriteArrayList<>();
  private final List<LoopDisk> disks = new ArrayList<>();
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
   */
  public record Settings(
      int count, @Nullable Path jar, List<String> jvmOptions, Path directory, boolean losePower) {
    /** Copies the list. */
    public Settings {
      jvmOptions = List.copyOf(jvmOptions);
    }
  }

  /** Prepares buses; starts nothing. */
  public static FaultBuses prepare(Settings settings) {
    FaultBuses all = new FaultBuses();
    try {
      Path key = settings.directory().resolve("resume.key");
      byte[] bytes = new byte[KEY_BYTES];
      new SecureRandom().nextBytes(bytes);
      Files.createFile(
          key, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      Files.write(key, bytes);
      List<Integer> ports = FreePorts.find(3 * settings.count());
      List<Integer> links = ports.subList(2 * settings.count(), ports.size());
      String join =
          links.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
      for (int i = 0; i < settings.count(); i++) {
        all.add(settings, i, ports.subList(2 * i, 2 * i + 2), key, links.get(i), join);
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

  private void add(
      Settings settings, int number, List<Integer> ports, Path key, int linkPort, String join) {
    String name = "bus-" + (number + 1);
    @Nullable LoopDisk disk = null;
    if (settings.losePower()) {
      disk = LoopDisk.create(settings.directory(), "disk-" + name, DISK_BYTES);
      disks.add(disk);
    }
    // Not the root of a file system, which is not empty.
    Path data = (disk == null ? settings.directory() : disk.directory()).resolve("data-" + name);
    List<String> arguments = new ArrayList<>(List.of("serve", "--host", "127.0.0.1"));
    arguments.addAll(List.of("--name", name, "--data", data.toString()));
    arguments.addAll(List.of("--port", ports.get(0).toString()));
    arguments.addAll(List.of("--admin-port", ports.get(1).toString()));
    arguments.addAll(List.of("--set", "auth.resume-key-file=" + key));
    if (settings.count() > 1) {
      arguments.addAll(List.of("--cluster-host", "127.0.0.1"));
      arguments.addAll(List.of("--cluster-port", Integer.toString(linkPort), "--join", join));
    }
    @Nullable Path jar = settings.jar();
    String classPath = jar == null ? System.getProperty("java.class.path") : jar.toString();
    buses.add(
        new FaultBus(
            name,
            JavaCommand.of(settings.jvmOptions(), classPath, MAIN, arguments),
            settings.directory(),
            ports.get(0),
            ports.get(1),
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

  private void killAll() {
    buses.forEach(FaultBus::kill);
  }

  /** Kills all, and removes their file systems. */
  @Override
  public void close() {
    hook.close();
    killAll();
    disks.forEach(LoopDisk::close);
  }
}
