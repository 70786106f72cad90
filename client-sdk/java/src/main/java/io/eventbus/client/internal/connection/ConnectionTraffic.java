package io.eventbus.client.internal.connection;

import io.eventbus.client.ConnectionListener.DropCause;
import io.eventbus.client.EventBusException;
import io.eventbus.client.internal.base.Transport;
import io.eventbus.client.internal.call.CallFrame;
import io.eventbus.client.internal.outbound.BatchSplitter;
import io.eventbus.client.internal.outbound.EventEncoder;
import io.eventbus.client.internal.outbound.FrameStages;
import io.eventbus.client.internal.outbound.Outbox;
import io.eventbus.client.internal.outbound.PublishFrame;
import io.eventbus.client.internal.outbound.Sender;
import io.eventbus.schema.Welcome;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Traffic over connections, as the {@link Connector} sees it: begins with a connection, stops with
 * it, and ends with the client. Confined to the conductor.
 */
public final class ConnectionTraffic {
  private final BusLink.Parts parts;
  private final Sender sender;
  private final EventEncoder encoder;
  private long producer;
  // The connection that is used for sending.
  private Transport.@Nullable Channel current;

  public ConnectionTraffic(BusLink.Parts parts, Sender sender, EventEncoder encoder) {
    this.parts = parts;
    this.sender = sender;
    this.encoder = encoder;
  }

  /** Starts all traffic over a connection whose bus has greeted this client. */
  void begin(Welcome welcome, Transport.Channel channel) {
    long before = producer;
    producer = welcome.getProducer();
    boolean takesLess = !encoder.fits(welcome);
    limit(welcome);
    if (takesLess) {
      recut(welcome);
    }
    if (before != 0 && before != producer) {
      parts.outbox().resequence();
      long now = producer;
      parts.notifier().tell(listener -> listener.producerChanged(before, now));
    }
    parts.calls().opened(channel);
    current = channel;
    parts.outbox().connected(channel);
    parts.subscriptions().connected();
    parts.barriers().connected();
    parts.calls().connected(welcome);
    sender.use(channel);
  }

  private void recut(Welcome welcome) {
    BatchSplitter.Result result = parts.outbox().recut(encoder::fits);
    Map<Boolean, List<PublishFrame>> refused =
        result.refused().stream().collect(Collectors.partitioningBy(PublishFrame::needsDurable));
    FrameStages.fail(
        parts.notifier(), refused.getOrDefault(true, List.of()), EventEncoder.notDurable());
    FrameStages.fail(
        parts.notifier(),
        refused.getOrDefault(false, List.of()),
        new EventBusException.PayloadTooBig(
            "the bus "
                + welcome.getBus()
                + " takes smaller events than the one that this was published for: "
                + welcome.getLimits()));
    long plain = result.refusedPlain();
    if (plain > 0) {
      parts.notifier().tell(listener -> listener.dropped(plain, DropCause.TOO_BIG));
    }
  }

  /** Stops sending over this connection; the application is not told. */
  void hold() {
    sender.use(null);
  }

  /**
   * Sends over another connection from now on, because the old bus has forwarded all that it got.
   */
  void move(Welcome welcome, Transport.Channel channel) {
    limit(welcome);
    current = channel;
    List<CallFrame> ofTheOther = parts.outbox().moved(channel);
    parts.calls().reroute(ofTheOther);
    parts.calls().connected(welcome);
    sender.use(channel);
  }

  /** Returns whether a bus accepts all that the one before has accepted. */
  boolean fits(Welcome welcome) {
    return encoder.fits(welcome);
  }

  private void limit(Welcome welcome) {
    encoder.limit(welcome);
    parts.outbox().limitMessages(encoder.messageBytes());
  }

  /** Resumes sending over this connection, after {@link #lose}. */
  void resume(@Nullable Welcome welcome, Transport.Channel channel) {
    if (welcome != null) {
      limit(welcome);
    }
    current = channel;
    parts.outbox().connected(channel);
    parts.barriers().connected();
    if (welcome != null) {
      parts.calls().connected(welcome);
    } else {
      parts.calls().connectedAgain();
    }
    sender.use(channel);
  }

  /**
   * Stops all traffic, because the connection is lost.
   *
   * @param heardAt microseconds since the epoch when the bus was last heard from
   */
  void stop(long heardAt) {
    lose();
    parts.subscriptions().disconnected(heardAt);
  }

  /** Stops sending, because its connection is lost; there is another one for receiving. */
  void lose() {
    sender.use(null);
    long unknown = parts.outbox().disconnected();
    parts.calls().lost(current);
    current = null;
    if (unknown > 0) {
      parts.notifier().tell(listener -> listener.dropped(unknown, DropCause.CONNECTION_LOST));
    }
  }

  /**
   * Ends all traffic, because the client is closed; every call that still waits fails with the
   * reason.
   */
  void end(EventBusException reason, EventBusException closed) {
    parts.outbox().close();
    Outbox.Remains remains = parts.outbox().abandon();
    EventBusException lost =
        new EventBusException.ConnectionLost(
            "the client was closed before the bus confirmed: " + reason.getMessage());
    EventBusException unsent =
        new EventBusException.Closed(
            "the client was closed before the event was sent: " + reason.getMessage(),
            closed.getCause());
    FrameStages.fail(parts.notifier(), remains.sent(), lost);
    FrameStages.fail(parts.notifier(), remains.unsent(), unsent);
    if (remains.plainUnsent() > 0) {
      parts.notifier().tell(listener -> listener.dropped(remains.plainUnsent(), DropCause.CLOSED));
    }
    parts.barriers().close(closed);
    parts.subscriptions().abandon(closed);
    sender.stop();
  }
}
