package io.eventbus.client.internal.outbound;

import io.eventbus.client.internal.base.Transport;
import io.eventbus.client.internal.call.CallFrame;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Frames of calls in the {@link Outbox} that wait to be sent over its connection. Guarded by the
 * outbox's lock, but for {@link #hasRoom}.
 *
 * <p>Replies, which belong to a connection, go before requests, which go over any. Requests are
 * charged to the budget of their table; replies that wait are stopped at their source once they
 * take {@link #MAX_ANSWER_BYTES}.
 */
final class CallDepartures {
  /** Bytes of waiting replies at which handlers are given no more requests. */
  static final int MAX_ANSWER_BYTES = 4 * 1024 * 1024;

  /** Number of added frames after which obsolete frames are looked for. */
  private static final int CLEANUP_INTERVAL = 1024;

  private final Deque<CallFrame> answers = new ArrayDeque<>();
  private final Deque<CallFrame> requests = new ArrayDeque<>();
  // Frames of tunnels, each tunnel at most once: they take turns.
  private final Deque<CallFrame> bulk = new ArrayDeque<>();
  private boolean bulkFirst;
  private long answerBytes;
  private volatile boolean hasRoom = true;
  private boolean tellsRoom;
  private int lookAt = CLEANUP_INTERVAL;
  private boolean holdsRequests;
  // Set if the last message was one of calls: events come first now.
  private boolean tookLast;
  private byte @Nullable [] inFlight;
  // Set while a message is filled.
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
      // Requests may be cancelled faster than the network accepts them.
      requests.removeIf(waiting -> waiting.size(nowNanos) == 0);
      lookAt = Math.max(CLEANUP_INTERVAL, 2 * requests.size());
    }
  }

  /** Returns the number of waiting frames. */
  int waiting() {
    return answers.size() + requests.size() + bulk.size();
  }

  /** Returns whether replies may be added. Any thread. */
  boolean hasRoom() {
    return hasRoom;
  }

  /** Returns once whether there is room again. */
  boolean takeRoom() {
    boolean tell = tellsRoom;
    tellsRoom = false;
    return tell;
  }

  /** Returns whether a message of events should go first. */
  boolean yields() {
    return tookLast;
  }

  void yielded() {
    tookLast = false;
  }

  /** Returns a message of frames; null if there are none. */
  @Nullable ByteBuffer next(Transport.Channel over, SendQueue queue, long nowNanos) {
    if (bulkFirst) {
      // The message before had no room for it.
      fill(bulk, over, queue, nowNanos);
    }
    fill(answers, over, queue, nowNanos);
    if (!holdsRequests) {
      fill(requests, over, queue, nowNanos);
    }
    if (!bulkFirst) {
      fill(bulk, over, queue, nowNanos);
    }
    bulkFirst = !bulkFirst && !bulk.isEmpty();
    ByteBuffer message = filling;
    filling = null;
    if (message == null || message.position() == 0) {
      // The array is dropped: that is rare.
      return null;
    }
    tookLast = true;
    inFlight = array;
    return message.flip();
  }

  private void fill(Deque<CallFrame> from, Transport.Channel over, SendQueue queue, long nowNanos) {
    for (CallFrame frame = from.peekFirst(); frame != null; frame = from.peekFirst()) {
      int size = frame.size(nowNanos);
      if (size > 0) {
        ByteBuffer message = filling;
        if (message != null && message.position() > 0 && message.remaining() < size) {
          return;
        }
        if (message == null || message.remaining() < size) {
          array = queue.acquireArray(size);
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

  /**
   * Takes note that the network has accepted the message; returns its array if it was one of calls.
   */
  byte @Nullable [] sent() {
    byte[] free = inFlight;
    inFlight = null;
    return free;
  }

  /** Keeps requests until {@link #goOn}. */
  void holdRequests() {
    holdsRequests = true;
  }

  void goOn() {
    holdsRequests = false;
  }

  /** Removes and returns the frames that belong to the connection before. */
  List<CallFrame> takeAnswers() {
    List<CallFrame> taken = new ArrayList<>(answers);
    answers.clear();
    taken.forEach(this::taken);
    taken.addAll(bulk);
    bulk.clear();
    return taken;
  }

  /**
   * Drops replies, because there is no connection; requests are handed over again when there is
   * one.
   */
  void clear() {
    takeAnswers();
    requests.clear();
    lookAt = CLEANUP_INTERVAL;
    inFlight = null;
    goOn();
  }
}
