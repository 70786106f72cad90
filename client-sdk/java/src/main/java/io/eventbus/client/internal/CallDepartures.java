package io.eventbus.client.internal;

import io.eventbus.client.internal.call.CallFrame;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The frames of calls in the {@link Outbox}, which wait to be sent over the connection that it has.
 * Guarded by its lock, but for {@link #hasRoom}.
 *
 * <p>Answers, which belong to a connection, go before requests, which go over any. Requests have a
 * budget where they are kept; answers that wait are held back at their source once they take {@link
 * #MAX_ANSWER_BYTES}.
 */
final class CallDepartures {
  /** Handlers are begun with no more requests while the answers that wait take so much. */
  static final int MAX_ANSWER_BYTES = 4 * 1024 * 1024;

  /** Frames that are not needed any more are looked for when so many have been added. */
  private static final int LOOK_AFTER = 1024;

  private final Deque<CallFrame> answers = new ArrayDeque<>();
  private final Deque<CallFrame> requests = new ArrayDeque<>();
  // Of tunnels, each at most once: they take turns.
  private final Deque<CallFrame> bulk = new ArrayDeque<>();
  private boolean bulkFirst;
  private long answerBytes;
  private volatile boolean hasRoom = true;
  private boolean tellsRoom;
  private int lookAt = LOOK_AFTER;
  private boolean holdsRequests;
  // The last message was one of calls: events come first now.
  private boolean tookLast;
  private byte @Nullable [] inFlight;
  // While a message is made.
  private @Nullable ByteBuffer filling;
  private byte @Nullable [] array;

  void add(CallFrame frame, long nowNanos) {
    if (frame.isBulk()) {
      bulk.addLast(frame);
      return;
    }
    if (frame.path() != null) {
      answers.addLast(frame);
      answerBytes += frame.cost();
      hasRoom = answerBytes < MAX_ANSWER_BYTES;
      return;
    }
    requests.addLast(frame);
    if (requests.size() >= lookAt) {
      // Requests may be cancelled faster than the network takes them.
      requests.removeIf(waiting -> waiting.size(nowNanos) == 0);
      lookAt = Math.max(LOOK_AFTER, 2 * requests.size());
    }
  }

  /** How many frames wait. */
  int waiting() {
    return answers.size() + requests.size() + bulk.size();
  }

  /** Any thread: whether answers may be added. */
  boolean hasRoom() {
    return hasRoom;
  }

  /** Says once that there is room again. */
  boolean takeRoom() {
    boolean tell = tellsRoom;
    tellsRoom = false;
    return tell;
  }

  /** Whether a message of events should go first. */
  boolean yields() {
    return tookLast;
  }

  void yielded() {
    tookLast = false;
  }

  /** Makes a message of frames; null if there are none. */
  @Nullable ByteBuffer next(Transport.Channel over, SendQueue departures, long nowNanos) {
    if (bulkFirst) {
      // The message before had no room for it.
      fill(bulk, over, departures, nowNanos);
    }
    fill(answers, over, departures, nowNanos);
    if (!holdsRequests) {
      fill(requests, over, departures, nowNanos);
    }
    if (!bulkFirst) {
      fill(bulk, over, departures, nowNanos);
    }
    bulkFirst = !bulkFirst && !bulk.isEmpty();
    ByteBuffer message = filling;
    filling = null;
    if (message == null || message.position() == 0) {
      // The array is let go of: that is rare.
      return null;
    }
    tookLast = true;
    inFlight = array;
    return message.flip();
  }

  private void fill(
      Deque<CallFrame> from, Transport.Channel over, SendQueue departures, long nowNanos) {
    for (CallFrame frame = from.peekFirst(); frame != null; frame = from.peekFirst()) {
      int size = frame.size(nowNanos);
      if (size > 0) {
        ByteBuffer message = filling;
        if (message != null && message.position() > 0 && message.remaining() < size) {
          return;
        }
        if (message == null || message.remaining() < size) {
          array = departures.takeArray(size);
          message = ByteBuffer.wrap(array);
          filling = message;
        }
        frame.write(message, over);
        if (frame.hasNext()) {
          from.addLast(from.removeFirst());
          continue;
        }
      }
      from.removeFirst();
      taken(frame);
    }
  }

  private void taken(CallFrame frame) {
    if (frame.path() == null || frame.isBulk()) {
      return;
    }
    answerBytes -= frame.cost();
    if (!hasRoom && answerBytes <= MAX_ANSWER_BYTES / 2) {
      hasRoom = true;
      tellsRoom = true;
    }
  }

  /** The network has taken the message; returns its array, if it was one of calls. */
  byte @Nullable [] sent() {
    byte[] free = inFlight;
    inFlight = null;
    return free;
  }

  /** Requests wait until {@link #goOn}. */
  void holdRequests() {
    holdsRequests = true;
  }

  void goOn() {
    holdsRequests = false;
  }

  /** The connection has changed: takes out what belongs to the one before. */
  List<CallFrame> takeAnswers() {
    List<CallFrame> taken = new ArrayList<>(answers);
    answers.clear();
    taken.forEach(this::taken);
    taken.addAll(bulk);
    bulk.clear();
    return taken;
  }

  /**
   * There is no connection: answers are forgotten, and requests are handed over again when there is
   * one.
   */
  void clear() {
    takeAnswers();
    requests.clear();
    lookAt = LOOK_AFTER;
    inFlight = null;
    goOn();
  }
}
