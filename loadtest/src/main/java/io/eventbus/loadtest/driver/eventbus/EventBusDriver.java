package io.eventbus.loadtest.driver.eventbus;

import io.eventbus.client.EventBusClient;
import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.ServerProcess;
import io.eventbus.loadtest.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The event bus: a bus in a process of its own, on a free port, and the Java SDK. */
public final class EventBusDriver implements Driver {
  private static final String SERVER = "io.eventbus.cli.Main";
  private static final List<String> ARGUMENTS =
      List.of("serve", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0");
  private static final Pattern READY = Pattern.compile("ws://127\\.0\\.0\\.1:[0-9]+/[^\\s,]*");
  private static final Duration START = Duration.ofSeconds(30);

  private final List<String> jvmOptions;

  /**
   * Makes the driver; starts nothing.
   *
   * @param jvmOptions of the bus's JVM
   */
  public EventBusDriver(List<String> jvmOptions) {
    this.jvmOptions = List.copyOf(jvmOptions);
  }

  @Override
  public String name() {
    return "eventbus";
  }

  @Override
  public Availability availability() {
    try {
      Class.forName(SERVER, false, EventBusDriver.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      return Availability.absent(SERVER + " is not on the class path: build eventbus-server");
    }
    String version = EventBusClient.class.getPackage().getImplementationVersion();
    return Availability.present(version == null ? "from classes" : version);
  }

  @Override
  public Session start(Workload workload) {
    List<String> options = new ArrayList<>(jvmOptions);
    ServerProcess process = ServerProcess.startJava("eventbus", options, SERVER, ARGUMENTS);
    try {
      Matcher ready = process.awaitOutput(READY, START);
      return new EventBusSession(process, ready.group(), workload);
    } catch (RuntimeException e) {
      process.close();
      throw e;
    }
  }
}
