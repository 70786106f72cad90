package io.eventbus.loadtest.driver.nats;

import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverCalls;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.IdleHandshake;
import io.eventbus.loadtest.driver.Programs;
import io.eventbus.loadtest.workload.Workload;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/** The same server as {@link NatsDriver}, with NATS's Go client over plain TCP: calls only. */
public final class NatsGoDriver implements Driver {
  private static final String PROGRAM = "nats-call";
  private static final Pattern VERSION = Pattern.compile("nats.go v(\\d+\\.\\d+\\.\\d+\\S*)");

  private final NatsDriver server = new NatsDriver(NatsDriver.Transport.TCP);

  /** Creates the driver; starts nothing. */
  public NatsGoDriver() {}

  @Override
  public String name() {
    return "nats-go";
  }

  @Override
  public Availability availability() {
    Availability found = server.availability();
    Availability client =
        Programs.availability(PROGRAM, "--version", VERSION, "run loadtest/peers/install.sh nats");
    if (!found.present() || !client.present()) {
      return found.present() ? client : found;
    }
    String version = found.detail().replaceFirst(" .*", "");
    return Availability.present(version + " (nats.go " + client.detail() + ")");
  }

  @Override
  public boolean hasCalls() {
    return true;
  }

  @Override
  public boolean hasEvents() {
    return false;
  }

  @Override
  public Session start(Workload workload) {
    Path program =
        Programs.find(PROGRAM).orElseThrow(() -> new DriverException(PROGRAM + " is absent"));
    return new GoSession(server.servers(1), program, workload);
  }

  private record GoSession(NatsServers servers, Path program, Workload workload)
      implements Session {
    @Override
    public List<Long> serverPids() {
      return servers.pids();
    }

    @Override
    public Publisher publisher(int number) {
      throw new DriverException("publisher: none (expected: a workload of calls)");
    }

    @Override
    public Subscriber subscriber(int number, String filter, Receiver receiver) {
      throw new DriverException("subscriber: none (expected: a workload of calls)");
    }

    @Override
    public IdleHandshake idleHandshake() {
      throw new DriverException("idle connections: none (expected: a workload of calls)");
    }

    @Override
    public DriverCalls calls() {
      return NatsGoCalls.start(
          List.of(
              program.toString(),
              servers.get(0).url(),
              Integer.toString(workload.calls()),
              Integer.toString(workload.payloadBytes())));
    }

    @Override
    public void close() {
      servers.close();
    }
  }
}
