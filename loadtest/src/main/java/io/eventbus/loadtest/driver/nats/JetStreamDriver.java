package io.eventbus.loadtest.driver.nats;

import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.DriverData;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DurableDriver;
import io.eventbus.loadtest.driver.LibraryVersions;
import io.eventbus.loadtest.driver.Programs;
import io.eventbus.loadtest.workload.DurableTopic;
import io.eventbus.loadtest.workload.Workload;
import java.nio.file.Path;
import java.util.EnumSet;

/**
 * NATS's JetStream: a stream in files with one replica at each server, and the Java client over
 * TCP. Workloads with a durable topic only.
 */
public final class JetStreamDriver extends DurableDriver {
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
    // Filling the stream would take minutes, and reading has nothing to do with fsync.
    super(
        sync == Sync.ALWAYS
            ? EnumSet.of(DurableTopic.Operation.PUBLISH, DurableTopic.Operation.TAIL)
            : EnumSet.allOf(DurableTopic.Operation.class));
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
  protected Session start(Workload workload, DurableTopic durable, DriverData data) {
    Path program =
        Programs.find(NatsDriver.PROGRAM)
            .orElseThrow(() -> new DriverException(NatsDriver.PROGRAM + " is absent"));
    NatsServers servers =
        NatsServers.start(
            name(),
            program,
            "nats",
            NatsDriver.TCP_PORT,
            workload.cluster().servers(),
            server -> store(data.path(), server, sync));
    return JetStreamSession.open(servers, workload, data);
  }
}
