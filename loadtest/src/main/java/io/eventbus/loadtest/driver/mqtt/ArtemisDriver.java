package io.eventbus.loadtest.driver.mqtt;

import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.FreePorts;
import io.eventbus.loadtest.driver.LibraryVersions;
import io.eventbus.loadtest.driver.ServerProcess;
import io.eventbus.loadtest.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Artemis: one broker without persistence, MQTT 5 over WebSocket, quality of service 0. */
public final class ArtemisDriver implements Driver {
  private static final Pattern READY = Pattern.compile(ArtemisServer.READY);
  private static final Duration START = Duration.ofSeconds(60);

  private final List<String> jvmOptions;

  /** Creates the driver; starts nothing. */
  public ArtemisDriver(List<String> jvmOptions) {
    this.jvmOptions = List.copyOf(jvmOptions);
  }

  @Override
  public String name() {
    return "artemis";
  }

  @Override
  public Availability availability() {
    return Availability.present(
        LibraryVersions.of("artemis")
            + " (HiveMQ client "
            + LibraryVersions.of("hivemq-mqtt-client")
            + ")");
  }

  @Override
  public Session start(Workload workload) {
    int port = FreePorts.find(1).get(0);
    List<String> options = new ArrayList<>(jvmOptions);
    // The default of Netty 4.1, which this broker is made for; the class path has 4.2.
    options.add("-Dio.netty.allocator.type=pooled");
    // Warnings only; without a configuration logback writes several lines for each message.
    options.add("-Dlogback.configurationFile=loadtest-logback.xml");
    ServerProcess process =
        ServerProcess.startJava(
            name(), options, ArtemisServer.class.getName(), List.of(Integer.toString(port)));
    try {
      process.awaitOutput(READY, START);
      return new MqttSession(process, port, workload);
    } catch (RuntimeException e) {
      process.close();
      throw e;
    }
  }
}
