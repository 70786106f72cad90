package io.eventbus.loadtest.driver.tyruspaper;

import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.LibraryVersions;
import io.eventbus.loadtest.driver.ServerProcess;
import io.eventbus.loadtest.workload.Workload;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The baseline: the paper's design done literally, in a JVM of its own. Subscribers do not
 * acknowledge each message, as the paper has them do: that too is in its favour.
 */
public final class TyrusPaperDriver implements Driver {
  private static final Pattern READY = Pattern.compile(PaperServer.READY + "(\\d+)");
  private static final Duration START = Duration.ofSeconds(30);

  private final List<String> jvmOptions;

  /** Creates the driver; starts nothing. */
  public TyrusPaperDriver(List<String> jvmOptions) {
    this.jvmOptions = List.copyOf(jvmOptions);
  }

  @Override
  public String name() {
    return "tyrus-paper";
  }

  @Override
  public Availability availability() {
    return Availability.present("Tyrus " + LibraryVersions.of("tyrus"));
  }

  @Override
  public Session start(Workload workload) {
    ServerProcess process =
        ServerProcess.startJava(name(), jvmOptions, PaperServer.class.getName(), List.of());
    try {
      String port = process.awaitOutput(READY, START).group(1);
      return new PaperSession(process, "ws://127.0.0.1:" + port + "/bus", workload);
    } catch (RuntimeException e) {
      process.close();
      throw e;
    }
  }
}
