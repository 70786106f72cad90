package io.eventbus.loadtest.driver.rabbitmq;

import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.DriverData;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DurableDriver;
import io.eventbus.loadtest.driver.JournalSession;
import io.eventbus.loadtest.driver.LibraryVersions;
import io.eventbus.loadtest.driver.Programs;
import io.eventbus.loadtest.workload.DurableTopic;
import io.eventbus.loadtest.workload.Workload;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * RabbitMQ: a quorum queue with a member at each server, confirms, and the Java client. An event is
 * confirmed once a majority of the members has synced it. Publishing only: reading an event takes
 * it out of the queue.
 */
public final class RabbitMqDriver extends DurableDriver {
  static final String EPMD = "epmd";

  private static final String SERVER = "rabbitmq-server";

  private static final Pattern VERSION = Pattern.compile("rabbitmq_server-([^/]+)");

  /** Creates the driver; starts nothing. */
  public RabbitMqDriver() {
    super(EnumSet.of(DurableTopic.Operation.PUBLISH, DurableTopic.Operation.WORK));
  }

  @Override
  public String name() {
    return "rabbitmq";
  }

  /**
   * Returns the directory with the scripts of RabbitMQ's distribution. What is on the PATH may be a
   * wrapper beside links to them, which runs the server as another user.
   */
  private static Optional<Path> scripts() {
    return Programs.find(SERVER)
        .map(script -> real(script).resolveSibling("rabbitmq-env"))
        .filter(Files::exists)
        .map(environment -> real(environment).resolveSibling(""));
  }

  private static Path real(Path script) {
    try {
      return script.toRealPath();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Availability availability() {
    Optional<Path> scripts = scripts();
    if (scripts.isEmpty() || Programs.find(EPMD).isEmpty()) {
      return Availability.absent(
          "no program " + SERVER + ", or no " + EPMD + ": run loadtest/peers/install.sh rabbitmq");
    }
    Matcher version = VERSION.matcher(scripts.get().toString());
    return Availability.present(
        (version.find() ? version.group(1) : "unknown version")
            + " (amqp-client "
            + LibraryVersions.of("amqp-client")
            + ")");
  }

  @Override
  protected Session start(Workload workload, DurableTopic durable, DriverData data) {
    Path scripts = scripts().orElseThrow(() -> new DriverException(SERVER + " is absent"));
    return new JournalSession(
        RabbitMqServers.start(scripts, workload.cluster().servers(), data.path()), data);
  }
}
