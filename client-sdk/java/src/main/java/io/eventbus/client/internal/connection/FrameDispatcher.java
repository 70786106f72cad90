package io.eventbus.client.internal.connection;

import io.eventbus.client.EventBusException;
import io.eventbus.client.internal.call.CallPath;
import io.eventbus.client.internal.call.InboundCalls;
import io.eventbus.client.internal.durable.FeedLine;
import io.eventbus.client.internal.inbound.Dispatcher;
import io.eventbus.client.internal.inbound.ServiceState;
import io.eventbus.client.internal.outbound.FrameStages;
import io.eventbus.client.internal.outbound.PublishFrame;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Gap;
import io.eventbus.schema.Problem;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reader of the frames that a bus sends after its greeting; passes them on. Confined to the
 * connection's thread.
 */
final class FrameDispatcher {
  private static final Logger LOG = LoggerFactory.getLogger(FrameDispatcher.class);

  /** Connection that the frames come from. */
  interface Source extends FeedLine {
    /** Returns the connection as calls see it. */
    @Nullable CallPath path();

    /** Returns whether frames come too late to settle anything. */
    boolean isAbandoned();

    /** Called when the bus says why it is going to close. */
    void refused(EventBusException why);

    /** Called when the bus asks the client to move. */
    void changeBus(ChangeBus request);

    /** Stops reading for now. */
    void pause();

    /**
     * Called after deliveries.
     *
     * @param bytes of all of them
     * @param last bytes of the last one
     */
    void delivered(long bytes, int last);

    /** Called when the bus does not know of credit. */
    void creditUnknown();

    /**
     * Called when the bus has accepted a new token.
     *
     * @param expiresAt microseconds since the epoch; 0 for never
     */
    void renewed(long expiresAt);

    /** Called when the bus has refused a new token. */
    void notRenewed();
  }

  /**
   * Listener for frames of a connection that is not the client's only one yet. Called on the
   * connection's thread, under the {@link Dispatcher}'s lock; must not block.
   */
  interface Standby {
    /** Called when a subscription is in force there. */
    void confirmed(long subscription);

    /** Called when the bus refuses a subscription there. */
    void refused(long subscription, EventBusException failure);

    /** Called when nothing more comes for a subscription there. */
    void drained(long subscription);
  }

  private final URI url;
  private final BusLink.Parts parts;
  private final Source source;
  private final FrameCursor cursor = new FrameCursor();
  private final List<PublishFrame> confirmed = new ArrayList<>();
  private final InboundCalls calls;
  private long producer;
  // Of the deliveries in the message that is being read.
  private long deliverBytes;
  private int lastDeliverBytes;
  // Set before the first frame, removed under the Dispatcher's lock.
  private @Nullable Standby standby;

  FrameDispatcher(URI url, BusLink.Parts parts, Source source, @Nullable Standby standby) {
    this.url = url;
    this.parts = parts;
    this.source = source;
    this.standby = standby;
    this.calls = parts.calls().inbound();
  }

  boolean isStandby() {
    return standby != null;
  }

  /** Makes this the client's connection. Under the dispatcher's lock. */
  void goLive() {
    standby = null;
  }

  /** Sets the number that this client publishes under. */
  void producer(long number) {
    producer = number;
  }

  void read(ByteBuffer message, int from, int to) {
    Dispatcher dispatcher = parts.dispatcher();
    dispatcher.lock();
    try {
      cursor.wrap(message, from, to);
      while (cursor.next()) {
        readFrame(message);
      }
    } finally {
      // Frames before a malformed one are good.
      dispatcher.handOver();
      long bytes = deliverBytes;
      int last = lastDeliverBytes;
      deliverBytes = 0;
      dispatcher.unlock();
      flushConfirmed();
      if (bytes > 0) {
        source.delivered(bytes, last);
      }
    }
  }

  private void readFrame(ByteBuffer message) {
    int from = cursor.bodyStart();
    int to = cursor.bodyEnd();
    TypeCode type = TypeCode.of(cursor.typeCode());
    if (type == null) {
      // A frame of a later version: skipped, as the protocol says.
      return;
    }
    switch (type) {
      case DELIVER -> {
        lastDeliverBytes = to - cursor.frameStart();
        deliverBytes += lastDeliverBytes;
        deliver(message, from, to);
      }
      case CONFIRM -> confirm(ControlFrames.confirm(message, from, to));
      case PROBLEM -> problem(ControlFrames.problem(message, from, to));
      case GAP -> gap(ControlFrames.gap(message, from, to));
      case BARRIER -> {
        // The confirmations before it have to be seen first.
        flushConfirmed();
        parts.barriers().echoed(ControlFrames.barrier(message, from, to).getId());
      }
      case DRAINED -> {
        // The last events before the end.
        parts.dispatcher().handOver();
        drained(ControlFrames.drained(message, from, to).getId());
      }
      case FEED -> parts.durable().feed(source, message, from, to, to - cursor.frameStart());
      case TRUNCATED -> parts.durable().truncated(source, message, from, to);
      case CHANGE_BUS -> source.changeBus(ControlFrames.changeBus(message, from, to));
      case INVOKE, REPLY, FAILURE, CANCEL, DATA, CREDIT -> call(type, message, from, to);
      case HELLO,
          PUBLISH,
          SUBSCRIBE,
          ACK,
          UNSUBSCRIBE,
          WELCOME,
          CHANGE_BUS_FAILED,
          REGISTER,
          UNREGISTER,
          REQUEST,
          CAPACITY,
          AUTHENTICATE,
          ECHO,
          CONSUME,
          SETTLE,
          ASK,
          TOLD ->
          LOG.warn("{} sent a frame of type {}, which is not for this client: skipped", url, type);
    }
  }

  /** Passes a frame of a call on, even if late: a connection that was left may end its calls. */
  private void call(TypeCode type, ByteBuffer message, int from, int to) {
    CallPath path = source.path();
    if (path == null) {
      return;
    }
    switch (type) {
      case INVOKE -> calls.invoke(message, from, to, path);
      case REPLY -> calls.reply(message, from, to, path);
      case FAILURE -> calls.failure(message, from, to, path);
      case DATA -> calls.data(message, from, to, path);
      case CREDIT -> calls.credit(message, from, to, path);
      default -> calls.cancel(message, from, to, path);
    }
  }

  private void deliver(ByteBuffer message, int from, int to) {
    if (standby == null) {
      parts.dispatcher().deliver(message, from, to);
    } else if (!parts.dispatcher().hold(message, from, to)) {
      source.pause();
    }
  }

  private void gap(Gap gap) {
    if (standby == null) {
      parts.dispatcher().gap(gap);
    } else {
      parts.dispatcher().hold(gap);
    }
  }

  private void drained(long subscription) {
    if (standby != null) {
      standby.drained(subscription);
      return;
    }
    if (source.isAbandoned()) {
      // Another connection may have the subscription in force.
      return;
    }
    Runnable last = parts.subscriptions().drained(subscription);
    if (last != null) {
      last.run();
    }
  }

  private void flushConfirmed() {
    if (!confirmed.isEmpty()) {
      FrameStages.confirm(parts.notifier(), List.copyOf(confirmed), producer);
      confirmed.clear();
    }
  }

  private void confirm(Confirm confirm) {
    if (source.isAbandoned()) {
      return;
    }
    if (confirm.getTypeCode() == TypeCode.PUBLISH.code()) {
      long events = parts.outbox().confirmations().confirmed(confirm, confirmed);
      parts.counters().confirmed.add(events);
    } else if (confirm.getTypeCode() == TypeCode.SUBSCRIBE.code()
        || confirm.getTypeCode() == TypeCode.REGISTER.code()
        || confirm.getTypeCode() == TypeCode.CONSUME.code()) {
      if (confirm.getTypeCode() == TypeCode.CONSUME.code()) {
        parts.durable().accepted(source, confirm);
      }
      if (standby != null) {
        // The client may stay at its bus, which may still refuse it.
        standby.confirmed(confirm.getAbout());
      } else {
        parts.dispatcher().confirmed(confirm.getAbout());
      }
    } else if (confirm.getTypeCode() == TypeCode.SETTLE.code()) {
      parts.durable().settled(source, confirm);
    } else if (confirm.getTypeCode() == TypeCode.AUTHENTICATE.code()) {
      source.renewed(confirm.getAbout());
    }
  }

  private void problem(Problem problem) {
    EventBusException failure = refused(problem);
    TypeCode type = TypeCode.of(problem.getTypeCode());
    boolean answered = false;
    if (type == TypeCode.PUBLISH) {
      PublishFrame frame =
          parts.outbox().confirmations().refused(problem.getTopic(), problem.getAbout());
      if (frame != null && frame.isAwaited()) {
        FrameStages.fail(parts.notifier(), List.of(frame), failure);
        answered = true;
      }
    } else if ((type == TypeCode.SUBSCRIBE || type == TypeCode.REGISTER || type == TypeCode.CONSUME)
        && standby != null) {
      standby.refused(problem.getAbout(), failure);
      answered = true;
    } else if (type == TypeCode.CONSUME) {
      answered = !source.isAbandoned() && parts.durable().refused(source, problem, failure);
    } else if (type == TypeCode.SETTLE) {
      // Of one that has ended meanwhile, or stands by, what is settled is told again.
      answered =
          parts.durable().settleRefused(source, problem, failure)
              || problem.getCode() == ErrorCode.UNKNOWN_SUBSCRIPTION;
    } else if (type == TypeCode.SUBSCRIBE
        || (type == TypeCode.REGISTER && problem.getCode() != ErrorCode.UNKNOWN_TYPE)) {
      answered =
          !source.isAbandoned() && parts.subscriptions().refused(problem.getAbout(), failure);
    } else if (type == TypeCode.REGISTER) {
      // The bus is too old for services; the next one may not be.
      parts.subscriptions().postpone(ServiceState.class, failure);
    } else if (type == TypeCode.UNSUBSCRIBE || type == TypeCode.UNREGISTER) {
      parts.dispatcher().handOver();
      drained(problem.getAbout());
      answered = true;
    } else if (type == TypeCode.BARRIER) {
      answered = parts.barriers().refused(problem.getAbout(), failure);
    } else if (type == TypeCode.CREDIT) {
      source.creditUnknown();
      answered = true;
    } else if (type == TypeCode.AUTHENTICATE) {
      source.notRenewed();
    } else if (problem.getCode() != ErrorCode.UNKNOWN_TYPE && type != TypeCode.CAPACITY) {
      // About the connection: the reason for the Close that follows.
      source.refused(failure);
    }
    if (!answered) {
      parts.notifier().tell(listener -> listener.problem(failure));
    }
  }

  /** Returns the exception that the application sees for a Problem. */
  static EventBusException refused(Problem problem) {
    io.eventbus.client.ErrorCode code;
    try {
      code = io.eventbus.client.ErrorCode.valueOf(problem.getCode().name());
    } catch (IllegalArgumentException e) {
      code = io.eventbus.client.ErrorCode.INTERNAL;
    }
    return new EventBusException.Refused(code, problem.getMessage(), problem.getRetryable());
  }
}
