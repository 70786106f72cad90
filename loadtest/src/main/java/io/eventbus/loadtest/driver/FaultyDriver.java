package io.eventbus.loadtest.driver;

import io.eventbus.loadtest.workload.Workload;
import java.util.List;

/** Any driver, with a {@link Fault} between its subscribers and the check of integrity. */
public final class FaultyDriver implements Driver {
  private final Driver driver;
  private final Fault fault;

  /** Creates it. */
  public FaultyDriver(Driver driver, Fault fault) {
    this.driver = driver;
    this.fault = fault;
  }

  @Override
  public String name() {
    return driver.name();
  }

  @Override
  public Availability availability() {
    Availability found = driver.availability();
    return found.present()
        ? Availability.present(found.detail() + ", broken on purpose: " + fault)
        : found;
  }

  @Override
  public boolean hasLogins() {
    return driver.hasLogins();
  }

  @Override
  public boolean hasClusters() {
    return driver.hasClusters();
  }

  @Override
  public boolean hasCalls() {
    return driver.hasCalls();
  }

  @Override
  public boolean hasDurableTopics() {
    return driver.hasDurableTopics();
  }

  @Override
  public boolean hasEvents() {
    return driver.hasEvents();
  }

  @Override
  public Session start(Workload workload) {
    return new FaultySession(driver.start(workload), fault);
  }

  private record FaultySession(Session session, Fault fault) implements Session {
    @Override
    public List<Long> serverPids() {
      return session.serverPids();
    }

    @Override
    public Publisher publisher(int number) {
      return session.publisher(number);
    }

    @Override
    public Subscriber subscriber(int number, String filter, Receiver receiver) {
      return session.subscriber(number, filter, fault.on(receiver));
    }

    @Override
    public IdleHandshake idleHandshake() {
      return session.idleHandshake();
    }

    @Override
    public DriverCalls calls() {
      return session.calls();
    }

    @Override
    public DriverJournal journal() {
      return new FaultyJournal(session.journal(), fault);
    }

    @Override
    public void close() {
      session.close();
    }
  }

  private record FaultyJournal(DriverJournal journal, Fault fault) implements DriverJournal {
    @Override
    public void publish(byte[] payload, Outcome outcome) {
      journal.publish(payload, outcome);
    }

    @Override
    public Subscriber read(long from, Receiver receiver) {
      return journal.read(from, fault.on(receiver));
    }

    @Override
    public Subscriber work(int number, Receiver receiver) {
      return journal.work(number, fault.on(receiver));
    }

    @Override
    public void close() {
      journal.close();
    }
  }
}
