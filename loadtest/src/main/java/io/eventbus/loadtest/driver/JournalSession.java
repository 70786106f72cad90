package io.eventbus.loadtest.driver;

import java.util.List;

/** Servers with a durable topic that has one publisher, and nothing else. */
public final class JournalSession implements Driver.Session {
  private final Servers servers;
  private final DriverData data;

  /** Takes over servers and their directory, which it closes. */
  public JournalSession(Servers servers, DriverData data) {
    this.servers = servers;
    this.data = data;
  }

  /** Servers with an empty topic. */
  public interface Servers extends AutoCloseable {
    /** Returns the processes that are measured. */
    List<Long> pids();

    /**
     * Connects the publisher of the topic.
     *
     * @throws DriverException if it cannot connect
     */
    DriverJournal journal();

    /** Ends the processes; what they have stored is deleted afterwards. */
    @Override
    void close();
  }

  @Override
  public List<Long> serverPids() {
    return servers.pids();
  }

  @Override
  public DriverJournal journal() {
    return servers.journal();
  }

  @Override
  public Driver.Publisher publisher(int number) {
    throw none("publishers of an ordinary workload");
  }

  @Override
  public Driver.Subscriber subscriber(int number, String filter, Driver.Receiver receiver) {
    throw none("subscribers of an ordinary workload");
  }

  @Override
  public IdleHandshake idleHandshake() {
    throw none("idle connections");
  }

  private static DriverException none(String what) {
    return new DriverException(what + ": none (expected: a durable topic with one publisher)");
  }

  @Override
  public void close() {
    try {
      servers.close();
    } finally {
      data.close();
    }
  }
}
