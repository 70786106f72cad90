package io.eventbus.server.federation.lane;

import org.jspecify.annotations.Nullable;

/**
 * State of a connection that is not read because of full subscribers, with the topic. One for each
 * connection; confined to its loop.
 */
public final class ForwardHold {
  /** Receiver of the time for which subscribers of a topic have held a connection. */
  @FunctionalInterface
  public interface Charge {
    /**
     * Charges the subscribers.
     *
     * @param nanos nanoseconds since the last charge
     */
    void charge(String account, String topic, long nanos);
  }

  private String account = "";
  private @Nullable String topic;
  private long chargedUntil;

  boolean isOn() {
    return topic != null;
  }

  /** Starts to hold the connection because of subscribers of a topic. */
  public void begin(String ofAccount, String fullTopic, long nowNanos) {
    account = ofAccount;
    topic = fullTopic;
    chargedUntil = nowNanos;
  }

  /** Charges the nanoseconds since the last charge to the topic, if the connection is held. */
  public void charge(Charge holds, long nowNanos) {
    String held = topic;
    if (held != null) {
      holds.charge(account, held, nowNanos - chargedUntil);
      chargedUntil = nowNanos;
    }
  }

  /** Ends the hold: the connection is read again, or has ended. */
  public void end() {
    topic = null;
  }
}
