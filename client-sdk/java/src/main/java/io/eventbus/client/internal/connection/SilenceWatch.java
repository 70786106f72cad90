package io.eventbus.client.internal.connection;

import io.eventbus.client.internal.base.MicroClock;
import io.eventbus.client.internal.base.Scheduler;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Detector of a connection that is dead without notice: the machine at the other end is gone, or
 * the network between. Confined to the conductor.
 *
 * <p>The transport answers the bus's pings silently, so they cannot be seen here. Instead this side
 * pings too when nothing has come for half the time-out.
 */
final class SilenceWatch {
  /** Connection that is watched. */
  interface Line {
    /** Returns whether a message is being handled: the transport does not read meanwhile. */
    boolean isReceiving();

    /** Returns the time when something was last received, or a message was done with. */
    long heardAt();

    /** Asks the other side for an answer. */
    void ping();
  }

  private final long halfNanos;
  private final MicroClock clock;
  private final Scheduler conductor;
  private final Line line;
  private final Runnable onSilent;
  private boolean pinged;
  private long pingedAt;
  private Scheduler.@Nullable Timer timer;

  SilenceWatch(
      Duration timeout, MicroClock clock, Scheduler conductor, Line line, Runnable onSilent) {
    this.halfNanos = timeout.toNanos() / 2;
    this.clock = clock;
    this.conductor = conductor;
    this.line = line;
    this.onSilent = onSilent;
  }

  void start() {
    lookAgainIn(halfNanos);
  }

  void stop() {
    Scheduler.Timer waiting = timer;
    if (waiting != null) {
      waiting.cancel();
      timer = null;
    }
  }

  private void lookAgainIn(long nanos) {
    timer = conductor.schedule(this::look, nanos);
  }

  private void look() {
    // In this order: the end of a message is noted before it counts as done.
    boolean receiving = line.isReceiving();
    long heardAt = line.heardAt();
    long now = clock.nanoTime();
    if (receiving) {
      // A slow handler stalls the connection; what the bus says is not read.
      pinged = false;
      lookAgainIn(halfNanos);
    } else if (now - heardAt < halfNanos) {
      pinged = false;
      lookAgainIn(halfNanos - (now - heardAt));
    } else if (!pinged || heardAt - pingedAt >= 0) {
      // Also after a pause of this whole process: the bus gets its chance to answer.
      pinged = true;
      pingedAt = now;
      line.ping();
      lookAgainIn(halfNanos);
    } else if (now - pingedAt < halfNanos) {
      lookAgainIn(halfNanos - (now - pingedAt));
    } else {
      timer = null;
      onSilent.run();
    }
  }
}
