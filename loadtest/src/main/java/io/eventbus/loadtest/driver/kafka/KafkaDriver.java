package io.eventbus.loadtest.driver.kafka;

import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.DriverData;
import io.eventbus.loadtest.driver.DurableDriver;
import io.eventbus.loadtest.driver.JournalSession;
import io.eventbus.loadtest.driver.LibraryVersions;
import io.eventbus.loadtest.workload.DurableTopic;
import io.eventbus.loadtest.workload.Workload;
import java.util.EnumSet;
import java.util.List;

/**
 * Kafka: a topic with one partition and a replica at each server, in servers that are brokers and
 * controllers (KRaft), and the Java client. An event is confirmed once all replicas in sync have
 * it.
 */
public final class KafkaDriver extends DurableDriver {
  /** Time of the server's fsync. */
  public enum Sync {
    /** When the system writes its cache, the default: the replicas are what keeps an event. */
    DEFAULT("kafka", "", ""),
    /** At each batch, before a replica counts as one that has it. */
    FLUSH("kafka-flush", "log.flush.interval.messages=1", "log.flush.interval.messages=1, ");

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
  private final List<String> jvmOptions;

  /** Creates the driver; starts nothing. */
  public KafkaDriver(Sync sync, List<String> jvmOptions) {
    // Filling a topic would take minutes with fsync, and reading has nothing to do with that.
    super(
        sync == Sync.FLUSH
            ? EnumSet.of(DurableTopic.Operation.PUBLISH)
            : EnumSet.of(DurableTopic.Operation.PUBLISH, DurableTopic.Operation.REPLAY));
    this.sync = sync;
    this.jvmOptions = List.copyOf(jvmOptions);
  }

  @Override
  public String name() {
    return sync.driver;
  }

  @Override
  public Availability availability() {
    String version = LibraryVersions.of("kafka");
    return Availability.present(version + " (" + sync.shown + "kafka-clients " + version + ")");
  }

  @Override
  protected Session start(Workload workload, DurableTopic durable, DriverData data) {
    KafkaServers servers =
        KafkaServers.start(
            name(),
            workload.cluster().servers(),
            data.path(),
            sync.configuration,
            jvmOptions,
            durable.inFlight() == 1);
    return new JournalSession(servers, data);
  }
}
