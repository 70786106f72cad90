package io.eventbus.client.internal;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.ConnectionListener.DropCause;
import io.eventbus.client.EventBusException;
import io.eventbus.client.internal.base.MicroClock;
import io.eventbus.client.internal.base.Scheduler;
import io.eventbus.client.internal.connection.BusLink;
import io.eventbus.client.internal.inbound.Acks;
import io.eventbus.client.internal.inbound.Stalls;
import io.eventbus.client.internal.outbound.FrameStages;
import io.eventbus.client.internal.outbound.PublishFrame;
import io.eventbus.client.internal.outbound.Sender;
import io.eventbus.protocol.DurationText;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.List;

/** Periodic work on the conductor: acknowledgements and time-outs. */
final class Maintenance {
  private static final int ACK_MESSAGE_BYTES = 64 * 1024;

  private final ClientOptions options;
  private final Scheduler conductor;
  private final MicroClock clock;
  private final BusLink.Parts parts;
  private final Acks acks;
  private final Sender sender;
  private final Stalls stalls;

  Maintenance(
      ClientOptions options,
      Scheduler conductor,
      MicroClock clock,
      BusLink.Parts parts,
      Acks acks,
      Sender sender) {
    this.options = options;
    this.conductor = conductor;
    this.clock = clock;
    this.parts = parts;
    this.acks = acks;
    this.sender = sender;
    this.stalls = new Stalls(parts.subscriptions(), parts.notifier(), clock.nanoTime());
  }

  void start() {
    // Only when there is something: a thousand idle clients should cost nothing.
    acks.onFirst(() -> conductor.schedule(this::acknowledge, options.ackInterval().toNanos()));
    scheduleTimeouts();
  }

  /** Acknowledges what has been handled. Any thread. */
  void acknowledge() {
    ByteArrayOutputStream frames = new ByteArrayOutputStream();
    acks.drain(
        frame -> {
          frames.writeBytes(frame);
          if (frames.size() >= ACK_MESSAGE_BYTES) {
            parts.outbox().addControl(frames.toByteArray());
            frames.reset();
          }
        });
    if (frames.size() > 0) {
      parts.outbox().addControl(frames.toByteArray());
    }
  }

  private void scheduleTimeouts() {
    long shortest =
        Math.min(
            options.outbound().confirmTimeout().toNanos(),
            options.connection().sendTimeout().toNanos());
    long interval =
        Math.min(
            Duration.ofSeconds(1).toNanos(),
            Math.max(Duration.ofMillis(5).toNanos(), shortest / 10));
    int maxLooks = (int) Math.max(2, options.outbound().confirmTimeout().toNanos() / interval);
    conductor.schedule(
        () -> {
          try {
            lookForTimeouts();
            parts.notifier().look(maxLooks);
          } finally {
            // Whatever fails once, deadlines must still end waits.
            scheduleTimeouts();
          }
        },
        interval);
  }

  private void lookForTimeouts() {
    sender.lookForTimeout();
    Duration timeout = options.outbound().confirmTimeout();
    long bornBefore = clock.nanoTime() - timeout.toNanos();
    List<PublishFrame> unsent = parts.outbox().confirmations().withdrawn(bornBefore);
    if (!unsent.isEmpty()) {
      EventBusException failure =
          new EventBusException.TimedOut(
              "the event was not sent within "
                  + DurationText.of(timeout)
                  + ", and will not be sent");
      FrameStages.fail(parts.notifier(), unsent, failure);
    }
    List<PublishFrame> late = parts.outbox().confirmations().expired(bornBefore);
    if (!late.isEmpty()) {
      EventBusException failure =
          new EventBusException.TimedOut(
              "the bus did not confirm within " + DurationText.of(timeout) + ": delivered or not");
      FrameStages.fail(parts.notifier(), late, failure);
    }
    parts.barriers().expire(clock.nanoTime());
    stalls.check(clock.nanoTime());
    long dropped = parts.outbox().takeDropped();
    if (dropped > 0) {
      parts.notifier().tell(listener -> listener.dropped(dropped, DropCause.BUFFER_FULL));
    }
  }
}
