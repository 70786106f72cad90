package io.eventbus.loadtest.driver.nats;

import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverData;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.LibraryVersions;
import io.eventbus.loadtest.driver.Programs;
import io.eventbus.loadtest.workload.DurableTopic;
import io.eventbus.loadtest.workload.Workload;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * NATS's JetStream: a stream in files with one replica at each server, and the Java client over
 * TCP. Workloads with a durable topic only.
 */
public final class JetStreamDriver implements Driver {
  private static final String STORE =
      """
      server_name: "server-%d"
      jetstream {
        store_dir: "%s"
        %s
      }
      """;

  /** Time of the server's fsync. */
  public enum Sync {
    /** Every two minutes, the default: a confirmed event may be lost with the machine. */
    DEFAULT("jetstream", "", ""),
    /** Before an event is confirmed. */
    ALWAYS("jetstream-always", "sync_interval: always", "sync_interval: always, ");

    private final String driver;
    private final String configuration;
    private final String shown;

    Sync(String driver, String configuration, String shown) {
      this.driver = driver;
      this.configuration = configuration;
      this.shown = shown;
    }
  }

  private final Sync sync;

  /** Creates the driver; starts nothing. */
  public JetStreamDriver(Sync sync) {
    this.sync = sync;
  }

  /**
   * Returns the part of a server's configuration that has it store streams.
   *
   * @param server its number, from 0
   */
  static String store(Path data, int server, Sync sync) {
    Path own = data.toAbsolutePath().resolve("server-" + server);
    return STORE.formatted(server, own, sync.configuration);
  }

  @Override
  public String name() {
    return sync.driver;
  }

  @Override
  public Availability availability() {
    Availability found = NatsDriver.server();
    return found.present()
        ? Availability.present(
            found.detail() + " (" + sync.shown + "jnats " + LibraryVersions.of("jnats") + ")")
        : found;
  }

  @Override
  public boolean hasEvents() {
    return false;
  }

  @Override
  public boolean hasDurableTopics() {
    return true;
  }

  @Override
  public boolean hasClusters() {
    return true;
  }

  @Override
  public String lacks(Workload workload) {
    @Nullable DurableTopic durable = workload.durable();
    // Filling the stream would take minutes, and reading has nothing to do with fsync.
    return sync == Sync.ALWAYS
            && durable != null
            && durable.operation() == DurableTopic.Operation.REPLAY
        ? "replay of its own"
        : Driver.super.lacks(workload);
  }

  @Override
  public Session start(Workload workload) {
    @Nullable DurableTopic durable = workload.durable();
    if (durable == null) {
      throw new DriverException("durable: none (expected: a workload with a durable topic)");
    }
    Path program =
        Programs.find(NatsDriver.PROGRAM)
            .orElseThrow(() -> new DriverException(NatsDriver.PROGRAM + " is absent"));
    DriverData data = DriverData.in(Path.of(durable.data()), "loadtest-jetstream-");
    try {
      NatsServers servers =
          NatsServers.start(
              name(),
              program,
              "nats",
              NatsDriver.TCP_PORT,
              workload.cluster().servers(),
              server -> store(data.path(), server, sync));
      return JetStreamSession.open(servers, workload, data);
    } catch (RuntimeException e) {
      data.close();
      throw e;
    }
  }
}
