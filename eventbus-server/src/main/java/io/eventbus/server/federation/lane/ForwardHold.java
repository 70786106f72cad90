package io.eventbus.server.federation.lane;

import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Whether full subscribers keep a connection from being read, and of which topic. One for each
 * connection; confined to its loop.
 */
public final class ForwardHold {
  private @Nullable String topic;
  private long chargedUntil;

  boolean isOn() {
    return topic != null;
  }

  /** From now on subscribers of a topic keep the connection from being read. */
  public void begin(String fullTopic, long nowNanos) {
    topic = fullTopic;
    chargedUntil = nowNanos;
  }

  /** Tells the topic and the nanoseconds that have passed since it was told last, if it is on. */
  public void charge(ObjLongConsumer<String> holds, long nowNanos) {
    String held = topic;
    if (held != null) {
      holds.accept(held, nowNanos - chargedUntil);
      chargedUntil = nowNanos;
    }
  }

  /** The connection is read again, or has ended. */
  public void end() {
    topic = null;
  }
}
