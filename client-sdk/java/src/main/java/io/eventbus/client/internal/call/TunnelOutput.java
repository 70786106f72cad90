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
 * What one end of a tunnel sends: messages wait here, are cut into frames as the other end takes
 * them, and frames are kept until it has them. Its lock is held for moments and nothing is called
 * under it, because it writes itself under the lock of what it waits in.
 *
 * <pre>
 *   acked <= sent <= limit; kept frames are those from acked to sent, without a gap
 * </pre>
 */
final class TunnelOutput implements CallFrame {
  /** A frame fits into the message of 64 KiB that it leaves in. */
  static final int MAX_PAYLOAD = 60 * 1024;

  /** What a message takes in memory beside its bytes. */
  private static final int MESSAGE_COST = 32;

  /** A frame that was sent: a part of a message, which is not changed. */
  @SuppressWarnings("ArrayRecordComponent")
  record Sent(long offset, byte[] message, int from, int length, boolean more, boolean last) {
    long end() {
      return offset + TunnelFrames.cost(length);
    }
  }

  private final CallPath path;
  private final long call;
  private final int mostWaiting;
  private final Deque<byte[]> waiting = new ArrayDeque<>();
  private final Deque<Sent> kept = new ArrayDeque<>();
  // Of the first message that waits: how much of it is sent.
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

  // What was measured, between size and write.
  private int next;

  TunnelOutput(CallPath path, long call, long limit, int mostWaiting) {
    this.path = path;
    this.call = call;
    this.limit = limit;
    this.mostWaiting = mostWaiting;
    check();
  }

  private void check() {
    assert acked <= sent && sent <= limit : acked + " <= " + sent + " <= " + limit;
  }

  /** Sets what is run under the lock when somebody waits for what was written; must not block. */
  void onWritten(Runnable task) {
    onWritten = task;
  }

  /** Nothing will be sent, and the other end knows. */
  synchronized void endSilently() {
    closing = true;
    sentLast = true;
  }

  // ---- For the application

  /** What became of a message. */
  record Taken(CompletableFuture<Void> room, boolean send) {}

  /** Takes a message; {@code send} says whether this has to be handed to the way out. */
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
                      + mostWaiting
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
    return waitingBytes >= mostWaiting;
  }

  /** Waits until there is room; throws what has ended it. */
  synchronized void awaitRoom() throws InterruptedException {
    while (failure == null && isFull()) {
      wait();
    }
    EventBusException end = failure;
    if (end != null) {
      throw end;
    }
  }

  /** Nothing follows what waits; returns whether this has to be handed to the way out. */
  synchronized boolean close() {
    closing = true;
    return mustQueue();
  }

  /** A failure follows what waits. */
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

  /** What is to be sent when nothing waits any more; once. */
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

  /** The other end takes more. */
  synchronized boolean credit(long newLimit, long received) {
    limit = Math.max(limit, newLimit);
    while (!kept.isEmpty() && kept.getFirst().end() <= received) {
      acked = kept.removeFirst().end();
    }
    check();
    return failure == null && mustQueue();
  }

  /** Nothing more is sent; returns what waits for room. */
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

  /** Says whether everything is sent, the end included. */
  synchronized boolean hasSentLast() {
    return sentLast;
  }

  // ---- On its way out

  /** Bytes of payload that the next frame has; -1 if there is none now. */
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

  /** Returns what waits for room, if there is some now; to be asked after each {@link #write}. */
  synchronized @Nullable CompletableFuture<Void> takeRoom() {
    if (isFull()) {
      return null;
    }
    CompletableFuture<Void> stage = room;
    room = null;
    return stage;
  }

  /** Frames that the other end may not have, for a connection that goes on. */
  synchronized List<Sent> kept() {
    return new ArrayList<>(kept);
  }
}
