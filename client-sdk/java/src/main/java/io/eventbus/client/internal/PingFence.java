package io.eventbus.client.internal;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Waits until what a bus had sent over a connection is read: its Pong comes behind that. For {@link
 * #DEADLINE} at most, because a bus leaves out a Pong where the client takes too little. Confined
 * to the conductor.
 */
final class PingFence {
  static final Duration DEADLINE = Duration.ofSeconds(2);

  private final Scheduler conductor;
  private @Nullable Runnable then;
  private Scheduler.@Nullable Timer timer;

  PingFence(Scheduler conductor) {
    this.conductor = conductor;
  }

  /** Begins to wait; once. */
  void await(BusLink link, Runnable next) {
    then = next;
    timer = conductor.schedule(this::pass, DEADLINE.toNanos());
    link.whenPong(() -> conductor.execute(this::pass));
    link.ping();
  }

  /** Nothing more comes that could be waited for. */
  void pass() {
    Runnable next = then;
    forget();
    if (next != null) {
      next.run();
    }
  }

  void forget() {
    then = null;
    Scheduler.Timer waiting = timer;
    if (waiting != null) {
      waiting.cancel();
      timer = null;
    }
  }
}
