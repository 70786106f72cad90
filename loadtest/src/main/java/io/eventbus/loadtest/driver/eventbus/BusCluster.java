package io.eventbus.loadtest.driver.eventbus;

import io.eventbus.loadtest.driver.Directories;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverStopHook;
import io.eventbus.loadtest.driver.FreePorts;
import io.eventbus.loadtest.workload.Login;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Buses in processes of their own that act as one, on ports and with directories that stay the same
 * when one is started again. One alone is a bus that is in no cluster. For one thread.
 */
final class BusCluster implements AutoCloseable {
  private static final Duration TOGETHER = Duration.ofMinutes(3);
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** As many as vote: the others find the cluster through them. */
  private static final int SEEDS = 3;

  private static final int KEY_BYTES = 32;

  private final List<LoadTestBus> buses = new CopyOnWriteArrayList<>();
  private final Path directory;
  private final DriverStopHook hook;
  private Logins logins;

  private BusCluster(Path directory) {
    this.directory = directory;
    this.logins = new Logins(Login.NONE, directory);
    // A load test that is stopped leaves no data of its buses.
    this.hook = DriverStopHook.add("buses", this::clear);
  }

  /**
   * Starts buses, and waits until each is linked with all others.
   *
   * @param settings keys of the bus's configuration; what is not there has its default
   * @throws DriverException if they do not come together in time
   */
  static BusCluster start(int count, List<String> jvmOptions, Map<String, String> settings) {
    return start(count, null, jvmOptions, settings, Login.NONE, null);
  }

  /**
   * As above, with clients that prove who they are, and durable topics.
   *
   * @param jar of the buses; null for those on the class path
   * @param data the directory below which the buses store events; null for buses that store none
   */
  static BusCluster start(
      int count,
      @Nullable Path jar,
      List<String> jvmOptions,
      Map<String, String> settings,
      Login login,
      @Nullable Path data) {
    BusCluster cluster = DriverStopHook.whole("buses", () -> new BusCluster(temporary(data)));
    try {
      Path key = cluster.resumeKey();
      cluster.logins = new Logins(login, cluster.directory);
      Map<String, String> all = new TreeMap<>(settings);
      all.putAll(cluster.logins.settings());
      List<Integer> links = FreePorts.find(count);
      String join =
          links.stream()
              .limit(SEEDS)
              .map(port -> "127.0.0.1:" + port)
              .collect(Collectors.joining(","));
      for (int i = 0; i < count; i++) {
        List<String> arguments = new ArrayList<>(List.of("serve", "--host", "127.0.0.1"));
        if (count == 1) {
          arguments.addAll(List.of("--port", "0", "--admin-port", "0"));
        } else {
          arguments.addAll(cluster.member(i, links.get(i), join));
        }
        if (data != null) {
          arguments.addAll(
              List.of("--data", cluster.directory.resolve("data-" + name(i)).toString()));
        }
        arguments.addAll(List.of("--set", "auth.resume-key-file=" + key));
        all.forEach((name, value) -> arguments.addAll(List.of("--set", name + "=" + value)));
        String shown = count == 1 ? "eventbus" : name(i);
        cluster.buses.add(new LoadTestBus(shown, jar, jvmOptions, arguments));
      }
      cluster.buses.forEach(LoadTestBus::start);
      cluster.buses.forEach(LoadTestBus::awaitListening);
      cluster.awaitTogether();
      return cluster;
    } catch (RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  private static Path temporary(@Nullable Path parent) {
    String prefix = "loadtest-buses-";
    try {
      return parent == null
          ? Files.createTempDirectory(prefix)
          : Files.createTempDirectory(Files.createDirectories(parent), prefix);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Writes a key for all buses, so that none looks for one in the user's home. */
  private Path resumeKey() {
    byte[] key = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(key);
    try {
      Path file = Files.createTempFile(directory, "resume", ".key");
      return Files.write(file, key);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String name(int bus) {
    return "bus-" + bus;
  }

  private List<String> member(int bus, int linkPort, String join) {
    List<Integer> ports = FreePorts.find(2);
    return List.of(
        "--name",
        name(bus),
        "--port",
        ports.get(0).toString(),
        "--admin-port",
        ports.get(1).toString(),
        "--cluster-directory",
        directory.resolve(name(bus)).toString(),
        "--cluster-host",
        "127.0.0.1",
        "--cluster-port",
        Integer.toString(linkPort),
        "--join",
        join);
  }

  /** Waits until every bus is ready and linked with all others. */
  void awaitTogether() {
    if (buses.size() > 1) {
      buses.forEach(this::awaitTogether);
    }
  }

  private void awaitTogether(LoadTestBus bus) {
    BusAdmin admin = bus.admin();
    int others = buses.size() - 1;
    await(
        () -> admin.isReady() && admin.isLinked(others),
        bus.name() + " is not linked with the others",
        bus);
  }

  private static void await(BooleanSupplier condition, String problem, LoadTestBus bus) {
    long end = System.nanoTime() + TOGETHER.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - end > 0) {
        throw new DriverException(
            problem + " after " + TOGETHER.toSeconds() + " s:\n" + bus.tail());
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /** Returns how clients prove who they are. */
  Logins logins() {
    return logins;
  }

  /** Returns the buses, by number. */
  List<LoadTestBus> buses() {
    return List.copyOf(buses);
  }

  /** Kills all: nobody is to be sent to another bus any more, and nothing to be kept. */
  @Override
  public void close() {
    buses.forEach(LoadTestBus::abandon);
    clear();
    hook.close();
  }

  /** Deletes what the buses have kept, once they are dead; those that still run are killed. */
  private void clear() {
    List.copyOf(buses).forEach(LoadTestBus::killNow);
    try {
      Directories.delete(directory);
    } catch (IOException e) {
      // A file left in the system's temporary directory is no reason to lose results.
      return;
    }
  }
}
