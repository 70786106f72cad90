package io.eventbus.client.internal;

import io.eventbus.client.ErrorCode;
import io.eventbus.client.EventBusException;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Problem;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the frames that a bus sends after its greeting, and passes them on. Confined to the
 * connection's thread.
 */
final class InboundFrames {
  private static final Logger LOG = LoggerFactory.getLogger(InboundFrames.class);

  /** The connection that the frames come from. */
  interface Source {
    /** Says whether what comes is too late to settle anything. */
    boolean isAbandoned();

    /** The bus says why it is going to close. */
    void refused(EventBusException why);

    /** The bus asks to go on elsewhere. */
    void changeBus(List<String> urls);
  }

  private final URI url;
  private final Link.Parts parts;
  private final Source source;
  private final FrameCursor cursor = new FrameCursor();
  private final List<PublishFrame> confirmed = new ArrayList<>();
  private long producer;

  InboundFrames(URI url, Link.Parts parts, Source source) {
    this.url = url;
    this.parts = parts;
    this.source = source;
  }

  /** The number that this client publishes under. */
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
      // What came before a malformed frame is good.
      dispatcher.handOver();
      dispatcher.unlock();
      flushConfirmed();
    }
  }

  private void readFrame(ByteBuffer message) {
    int from = cursor.bodyStart();
    int to = cursor.bodyEnd();
    TypeCode type = TypeCode.of(cursor.typeCode());
    if (type == null) {
      // A later version's: skipped, as the protocol says.
      return;
    }
    switch (type) {
      case DELIVER -> parts.dispatcher().deliver(message, from, to);
      case CONFIRM -> confirm(ControlFrames.confirm(message, from, to));
      case PROBLEM -> problem(ControlFrames.problem(message, from, to));
      case GAP -> parts.dispatcher().gap(ControlFrames.gap(message, from, to));
      case BARRIER -> {
        // The confirmations before it are to be seen before it.
        flushConfirmed();
        parts.barriers().echoed(ControlFrames.barrier(message, from, to).getId());
      }
      case DRAINED -> {
        // The last events before the end.
        parts.dispatcher().handOver();
        parts.subscriptions().drained(ControlFrames.drained(message, from, to).getId());
      }
      case CHANGE_BUS -> source.changeBus(ControlFrames.changeBus(message, from, to).getUrls());
      case HELLO, PUBLISH, SUBSCRIBE, ACK, UNSUBSCRIBE, WELCOME ->
          LOG.warn("{} sent a frame of type {}, which is not for clients: skipped", url, type);
    }
  }

  private void flushConfirmed() {
    if (!confirmed.isEmpty()) {
      parts.notifier().confirm(List.copyOf(confirmed), producer);
      confirmed.clear();
    }
  }

  private void confirm(Confirm confirm) {
    if (source.isAbandoned()) {
      return;
    }
    if (confirm.getTypeCode() == TypeCode.PUBLISH.code()) {
      int before = confirmed.size();
      parts.outbox().confirmations().confirmed(confirm.getTopic(), confirm.getAbout(), confirmed);
      long events = 0;
      for (int i = before; i < confirmed.size(); i++) {
        events += confirmed.get(i).waiters.size();
      }
      parts.counters().confirmed.add(events);
    } else if (confirm.getTypeCode() == TypeCode.SUBSCRIBE.code()) {
      parts.subscriptions().confirmed(confirm.getAbout());
    }
  }

  private void problem(Problem problem) {
    EventBusException failure = refused(problem);
    TypeCode type = TypeCode.of(problem.getTypeCode());
    boolean answered = false;
    if (type == TypeCode.PUBLISH) {
      PublishFrame frame =
          parts.outbox().confirmations().refused(problem.getTopic(), problem.getAbout());
      if (frame != null && !frame.waiters.isEmpty()) {
        parts.notifier().complete(() -> frame.fail(failure));
        answered = true;
      }
    } else if (type == TypeCode.SUBSCRIBE) {
      answered = parts.subscriptions().refused(problem.getAbout(), failure);
    } else if (type == TypeCode.UNSUBSCRIBE) {
      parts.dispatcher().handOver();
      parts.subscriptions().drained(problem.getAbout());
      answered = true;
    } else if (type == TypeCode.BARRIER) {
      answered = parts.barriers().refused(problem.getAbout(), failure);
    } else {
      // About the connection: it says why the Close that follows.
      source.refused(failure);
    }
    if (!answered) {
      parts.notifier().tell(listener -> listener.problem(failure));
    }
  }

  /** What the application gets to see of a Problem. */
  static EventBusException refused(Problem problem) {
    ErrorCode code;
    try {
      code = ErrorCode.valueOf(problem.getCode().name());
    } catch (IllegalArgumentException e) {
      code = ErrorCode.INTERNAL;
    }
    return new EventBusException.Refused(code, problem.getMessage(), problem.getRetryable());
  }
}
