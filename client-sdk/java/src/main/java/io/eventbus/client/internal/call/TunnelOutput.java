package io.eventbus.client.internal.call;

import io.eventbus.client.EventBusException;
import io.eventbus.client.EventBusException.CallFailed;
import io.eventbus.client.Execution;
import io.eventbus.protocol.TunnelFrames;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Sending side of one end of a tunnel: messages wait here, are cut into frames as the other end
 * accepts them, and frames are kept until it has them. Its lock is held for moments and nothing is
 * called under it, because it writes itself under the lock of its queue.
 *
 * <pre>
 *   acked <= sent <= limit; kept frames are those from acked to sent, without a gap
 * </pre>
 */
final class TunnelOutput implements CallFrame {
  /** Maximum payload of a frame, which has to fit into the message of 64 KiB that it leaves in. */
  static final int MAX_PAYLOAD = 60 * 1024;

  /** Bytes that a message takes in memory beside its own. */
  private static final int MESSAGE_COST = 32;

  /** Sent frame: a part of a message, which is not changed. */
  @SuppressWarnings("ArrayRecordComponent")
  record Sent(long offset, byte[] message, int from, int length, boolean more, boolean last) {
    long end() {
      return offset + TunnelFrames.cost(length);
    }
  }

  private final CallPath path;
  private final long call;
  private final int maxWaiting;
  private final Deque<byte[]> waiting = new ArrayDeque<>();
  private final Deque<Sent> kept = new ArrayDeque<>();
  // Sent bytes of the first waiting message.
  private int cut;
  private long waitingBytes;
  private long acked;
  private long sent;
  private long limit;
  private boolean closing;
  private boolean sentLast;
  private @Nullable CallFrame ending;
  private boolean queued;
  private @Nullable EventBusException failure;
  private @Nullable CompletableFuture<Void> room;

  private Runnable onWritten = () -> {};

  // Payload that was measured, between size and write.
  private int next;

  TunnelOutput(CallPath path, long call, long limit, int maxWaiting) {
    this.path = path;
    this.call = call;
    this.limit = limit;
    this.maxWaiting = maxWaiting;
    check();
  }

  private void check() {
    assert acked <= sent && sent <= limit : acked + " <= " + sent + " <= " + limit;
  }

  /**
   * Sets the task that runs under the lock when a message that somebody waits for was written; must
   * not block.
   */
  void onWritten(Runnable task) {
    onWritten = task;
  }

  /** Ends the output; the other end knows already. */
  synchronized void endSilently() {
    closing = true;
    sentLast = true;
  }

  // ---- For the application

  /** Result of adding a message. */
  record Taken(CompletableFuture<Void> room, boolean send) {}

  /**
   * Adds a message; {@code send} of the result says whether this has to be handed to the outbox.
   */
  synchronized Taken take(byte[] message) {
    EventBusException end = failure;
    if (end != null) {
      return new Taken(CompletableFuture.failedFuture(end), false);
    }
    if (closing) {
      throw new IllegalStateException("send after closeOutput (expected: before)");
    }
    if (isFull()) {
      return new Taken(
          CompletableFuture.failedFuture(
              new CallFailed.Overloaded(
                  waitingBytes
                      + " bytes wait in the tunnel (expected: less than "
                      + maxWaiting
                      + ", bufferBytes, which the stage of the last message tells)",
                  Execution.NO,
                  true,
                  Duration.ZERO)),
          false);
    }
    waiting.addLast(message);
    waitingBytes += message.length + MESSAGE_COST;
    CompletableFuture<Void> stage = new CompletableFuture<>();
    if (isFull()) {
      room = stage;
    } else {
      stage.complete(null);
    }
    return new Taken(stage, mustQueue());
  }

  private boolean isFull() {
    return waitingBytes >= maxWaiting;
  }

  /** Waits until there is room; throws the failure that has ended it. */
  synchronized void awaitRoom() throws InterruptedException {
    while (failure == null && isFull()) {
      wait();
    }
    EventBusException end = failure;
    if (end != null) {
      throw end;
    }
  }

  /** Closes the output behind what waits; returns whether this has to be handed to the outbox. */
  synchronized boolean close() {
    closing = true;
    return mustQueue();
  }

  /** Ends the output with a failure behind what waits. */
  synchronized boolean endWith(CallFrame frame) {
    if (failure != null || closing) {
      return false;
    }
    if (waiting.isEmpty()) {
      return true;
    }
    ending = frame;
    return false;
  }

  /** Returns the last frame, once nothing waits before it; once. */
  synchronized @Nullable CallFrame takeEnding() {
    CallFrame frame = ending;
    if (frame == null || !waiting.isEmpty()) {
      return null;
    }
    ending = null;
    return frame;
  }

  private boolean mustQueue() {
    if (queued || plan() < 0) {
      return false;
    }
    queued = true;
    return true;
  }

  // ---- From the other end

  /** Takes credit from the other end. */
  synchronized boolean credit(long newLimit, long received) {
    limit = Math.max(limit, newLimit);
    while (!kept.isEmpty() && kept.getFirst().end() <= received) {
      acked = kept.removeFirst().end();
    }
    check();
    return failure == null && mustQueue();
  }

  /** Fails the output: nothing more is sent; returns the stage that waits for room. */
  synchronized @Nullable CompletableFuture<Void> fail(EventBusException why) {
    if (failure != null) {
      return null;
    }
    failure = why;
    waiting.clear();
    kept.clear();
    waitingBytes = 0;
    ending = null;
    CompletableFuture<Void> stage = room;
    room = null;
    notifyAll();
    return stage;
  }

  /** Returns whether everything is sent, the end included. */
  synchronized boolean hasSentLast() {
    return sentLast;
  }

  // ---- On its way out

  /** Returns the payload of the next frame in bytes; -1 if there is none now. */
  private int plan() {
    long left = limit - sent - TunnelFrames.FRAME_COST;
    if (failure != null || left < 0) {
      return -1;
    }
    byte[] first = waiting.peekFirst();
    if (first == null) {
      return closing && !sentLast ? 0 : -1;
    }
    int rest = first.length - cut;
    int length = (int) Math.min(left, Math.min(rest, MAX_PAYLOAD));
    return length == 0 && rest > 0 ? -1 : length;
  }

  @Override
  public CallPath path() {
    return path;
  }

  @Override
  public int cost() {
    return 0;
  }

  @Override
  public boolean isBulk() {
    return true;
  }

  @Override
  public synchronized int size(long nowNanos) {
    next = plan();
    if (next < 0) {
      queued = false;
      return 0;
    }
    return TunnelFrames.dataSize(call, sent, next);
  }

  @Override
  public synchronized boolean write(ByteBuffer out, CallPath over) {
    int length = next;
    if (failure != null || length < 0) {
      return false;
    }
    boolean wasFull = isFull();
    byte[] message = waiting.peekFirst();
    boolean more = message != null && cut + length < message.length;
    // An empty frame that is the last is no message: an empty message needs one more.
    boolean empty = message != null && message.length == 0;
    boolean last = closing && !more && waiting.size() <= 1 && !empty;
    byte[] bytes = message == null ? new byte[0] : message;
    TunnelFrames.writeDataHead(out, call, sent, more, last, length);
    out.put(bytes, cut, length);
    kept.addLast(new Sent(sent, bytes, cut, length, more, last));
    sent += TunnelFrames.cost(length);
    cut += length;
    sentLast |= last;
    if (message != null && !more) {
      waiting.removeFirst();
      waitingBytes -= message.length + MESSAGE_COST;
      cut = 0;
    }
    check();
    if (wasFull && !isFull()) {
      notifyAll();
    }
    if (last || (waiting.isEmpty() && ending != null) || (wasFull && !isFull())) {
      onWritten.run();
    }
    return true;
  }

  @Override
  public synchronized boolean hasNext() {
    queued = plan() >= 0;
    return queued;
  }

  /**
   * Returns the stage that waits for room, if there is some now; to be called after each {@link
   * #write}.
   */
  synchronized @Nullable CompletableFuture<Void> takeRoom() {
    if (isFull()) {
      return null;
    }
    CompletableFuture<Void> stage = room;
    room = null;
    return stage;
  }

  /** Returns the frames that the other end may not have, for a connection that goes on. */
  synchronized List<Sent> kept() {
    return new ArrayList<>(kept);
  }
}
