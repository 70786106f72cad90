package io.eventbus.loadtest.driver.nats;

import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverJournal;
import io.eventbus.loadtest.driver.Programs;
import io.eventbus.loadtest.faults.power.PowerSystem;
import io.nats.client.Connection;
import java.nio.file.Path;

/** NATS's JetStream with a stream in files, for losses of power. */
public final class JetStreamPower implements PowerSystem {
  private final JetStreamDriver.Sync sync;

  /** Creates it; starts nothing. */
  public JetStreamPower(JetStreamDriver.Sync sync) {
    this.sync = sync;
  }

  @Override
  public String name() {
    return new JetStreamDriver(sync).name();
  }

  @Override
  public Availability availability() {
    return new JetStreamDriver(sync).availability();
  }

  @Override
  public Server start(Path data) {
    Path program =
        Programs.find(NatsDriver.PROGRAM)
            .orElseThrow(() -> new DriverException(NatsDriver.PROGRAM + " is absent"));
    NatsServers servers =
        NatsServers.start(
            name(),
            program,
            "nats",
            NatsDriver.TCP_PORT,
            1,
            number -> JetStreamDriver.store(data, number, sync));
    RunningServer server = new RunningServer(servers, new NatsConnections());
    try {
      JetStreamSession.addStream(server.connect("operator"), 1);
      return server;
    } catch (RuntimeException e) {
      server.close();
      throw e;
    }
  }

  private record RunningServer(NatsServers servers, NatsConnections connections) implements Server {
    private Connection connect(String name) {
      return connections.open(name, servers.get(0).url());
    }

    @Override
    public DriverJournal journal() {
      return JetStreamSession.journal(
          connect("publisher"), connect("reader"), number -> connect("worker-" + number));
    }

    @Override
    public void pause() {
      servers.get(0).process().pause();
    }

    @Override
    public void kill() {
      servers.get(0).process().kill();
    }

    @Override
    public void close() {
      connections.close();
      servers.close();
    }
  }
}
