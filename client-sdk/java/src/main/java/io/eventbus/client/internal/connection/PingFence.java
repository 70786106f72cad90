package io.eventbus.client.internal.connection;

import io.eventbus.client.internal.base.Scheduler;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Fence that waits until all that a bus had sent over a connection is read: its Pong comes behind
 * that. Waits for {@link #PONG_TIMEOUT} at most, because a bus leaves out a Pong where the client
 * reads too little. Confined to the conductor.
 */
final class PingFence {
  static final Duration PONG_TIMEOUT = Duration.ofSeconds(2);

  private final Scheduler conductor;
  private @Nullable Runnable then;
  private Scheduler.@Nullable Timer timer;

  PingFence(Scheduler conductor) {
    this.conductor = conductor;
  }

  /** Starts to wait; once. */
  void await(BusLink link, Runnable next) {
    then = next;
    timer = conductor.schedule(this::pass, PONG_TIMEOUT.toNanos());
    link.whenPong(() -> conductor.execute(this::pass));
    link.ping();
  }

  /** Ends the wait, because nothing more comes that could be waited for. */
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
