package io.eventbus.server.federation.lane;

import org.jspecify.annotations.Nullable;

/**
 * Whether full subscribers keep a connection from being read, and of which topic. One for each
 * connection; confined to its loop.
 */
public final class ForwardHold {
  /** Is told for how long subscribers of a topic have kept a connection from being read. */
  @FunctionalInterface
  public interface Charge {
    /**
     * Charges them.
     *
     * @param nanos since it was charged last
     */
    void charge(String account, String topic, long nanos);
  }

  private String account = "";
  private @Nullable String topic;
  private long chargedUntil;

  boolean isOn() {
    return topic != null;
  }

  /** From now on subscribers of a topic keep the connection from being read. */
  public void begin(String ofAccount, String fullTopic, long nowNanos) {
    account = ofAccount;
    topic = fullTopic;
    chargedUntil = nowNanos;
  }

  /** Tells the topic and the nanoseconds that have passed since it was told last, if it is on. */
  public void charge(Charge holds, long nowNanos) {
    String held = topic;
    if (held != null) {
      holds.charge(account, held, nowNanos - chargedUntil);
      chargedUntil = nowNanos;
    }
  }

  /** The connection is read again, or has ended. */
  public void end() {
    topic = null;
  }
}
