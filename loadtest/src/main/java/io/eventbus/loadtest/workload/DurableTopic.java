package io.eventbus.loadtest.workload;

import java.util.Locale;

/**
 * Topic whose events the system stores.
 *
 * @param inFlight unconfirmed events of the publisher, at most
 * @param events events that are stored before they are read, for {@link Operation#REPLAY} and
 *     {@link Operation#WORK}
 * @param data directory in which the servers' data is made
 */
public record DurableTopic(Operation operation, int inFlight, long events, String data) {
  private static final long MAX_EVENTS = 1_000_000_000;

  /** Operation of the clients. */
  public enum Operation {
    /** Publish and have every event confirmed; then read all of them back. */
    PUBLISH,
    /** Read what is stored, from the first event to the last, again and again. */
    REPLAY,
    /** Publish while durable subscriptions take the events: an ordinary workload otherwise. */
    TAIL,
    /** Share what is stored among workers, the subscribers, that settle each event. */
    WORK
  }

  /** Checks the figures. */
  public DurableTopic {
    Workload.require("durable.inFlight", inFlight, 1, 1 << 20);
    Workload.require("durable.events", events, 1, MAX_EVENTS);
  }

  /** Makes the same with another directory. */
  DurableTopic in(String newData) {
    return new DurableTopic(operation, inFlight, events, newData);
  }

  /** Checks that the rest of a workload goes with it; what is read is one publisher's topic. */
  void checkWith(int publishers, int subscribers, int topics, long messages, long rate) {
    if (operation != Operation.TAIL
        && (publishers > 1
            || (subscribers > 1 && operation != Operation.WORK)
            || topics > 1
            || messages > 0
            || rate > 0)) {
      throw new IllegalArgumentException(
          "durable.operation: "
              + operation.name().toLowerCase(Locale.ROOT)
              + " (expected: one publisher, subscriber and topic, no messages and rate)");
    }
  }
}
