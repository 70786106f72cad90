package io.eventbus.loadtest.driver.mqtt;

import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.FreePorts;
import io.eventbus.loadtest.driver.LibraryVersions;
import io.eventbus.loadtest.driver.Programs;
import io.eventbus.loadtest.driver.ServerProcess;
import io.eventbus.loadtest.workload.Workload;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Mosquitto: one broker without persistence, MQTT 5 over WebSocket, quality of service 0. */
public final class MosquittoDriver implements Driver {
  private static final String PROGRAM = "mosquitto";
  private static final Pattern VERSION = Pattern.compile("mosquitto version (\\S+)");
  private static final Pattern READY = Pattern.compile("mosquitto version \\S+ running");
  private static final Duration START = Duration.ofSeconds(20);

  /**
   * By default it drops what waits for a subscriber beyond 1,000 messages; 0 is no bound. Some 2.0
   * versions do not start with nothing but a WebSocket listener, hence the first one.
   */
  private static final String CONFIGURATION =
      """
      listener %d 127.0.0.1
      listener %d 127.0.0.1
      protocol websockets
      socket_domain ipv4
      allow_anonymous true
      persistence false
      max_queued_messages 0
      set_tcp_nodelay true
      connection_messages false
      log_dest stderr
      user %s
      """;

  /** Creates the driver; starts nothing. */
  public MosquittoDriver() {
    // No options: it is no Java program.
  }

  @Override
  public String name() {
    return "mosquitto";
  }

  @Override
  public Availability availability() {
    Availability found =
        Programs.availability(PROGRAM, "-h", VERSION, "run loadtest/peers/install.sh mosquitto");
    return found.present()
        ? Availability.present(
            found.detail() + " (HiveMQ client " + LibraryVersions.of("hivemq-mqtt-client") + ")")
        : found;
  }

  @Override
  public Session start(Workload workload) {
    Path program =
        Programs.find(PROGRAM).orElseThrow(() -> new DriverException(PROGRAM + " is absent"));
    int port = FreePorts.find(1).get(0);
    try {
      Path configuration = Files.createTempFile("loadtest-mosquitto-", ".conf");
      try {
        Files.writeString(
            configuration,
            CONFIGURATION.formatted(
                FreePorts.find(1).get(0), port, System.getProperty("user.name")));
        return start(program, configuration, port, workload);
      } finally {
        // Once the broker runs it has read it.
        Files.deleteIfExists(configuration);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Session start(Path program, Path configuration, int port, Workload workload) {
    ServerProcess process =
        ServerProcess.start(
            name(), List.of(program.toString(), "-c", configuration.toString()), Map.of());
    try {
      process.awaitOutput(READY, START);
      return new MqttSession(process, port, workload);
    } catch (RuntimeException e) {
      process.close();
      throw e;
    }
  }
}
