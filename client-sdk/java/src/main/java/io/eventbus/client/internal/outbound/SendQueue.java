package io.eventbus.client.internal.outbound;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.ToLongBiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Part of the {@link Outbox} before the network: the message that is being filled, those that wait
 * to be sent, and control frames, which overtake events. Guarded by the outbox's lock.
 *
 * <p>While the client moves, events wait here until the old bus has said that it has forwarded all
 * that it got.
 */
final class SendQueue {
  private static final int POOLED_ARRAYS = 4;

  /** Bytes of events that nobody waits for, after which the bus is asked how far it has come. */
  private static final int MARK_BYTES = 256 * 1024;

  private final int maxBatchBytes;
  private final Deque<byte[]> control = new ArrayDeque<>();
  private final Deque<Batch> sealed = new ArrayDeque<>();
  private final Deque<byte[]> pool = new ArrayDeque<>(POOLED_ARRAYS);
  private int batchBytes;
  private @Nullable OpenBatch open;
  private @Nullable Batch inFlight;
  private boolean areOpen;
  private long unmarkedBytes;
  private long lastNumber;
  private long sentThrough;
  // The client is about to leave the bus: events are held, the barrier before them is not.
  private boolean moving;
  private @Nullable Batch farewell;
  private @Nullable Runnable whenQuiet;

  SendQueue(int maxBatchBytes) {
    this.maxBatchBytes = maxBatchBytes;
    this.batchBytes = maxBatchBytes;
  }

  /** Sets the maximum size of a message that the bus accepts. */
  void limitMessages(int bytes) {
    batchBytes = Math.min(maxBatchBytes, bytes);
    pool.clear();
  }

  /** Returns the message that is being filled, with room for an event. */
  OpenBatch batchFor(TopicState topic, int eventBytes) {
    OpenBatch batch = open;
    if (batch != null && !batch.fits(topic, eventBytes)) {
      seal();
      batch = null;
    }
    if (batch == null) {
      int needed = OpenBatch.capacityFor(topic.bytes.length, eventBytes);
      batch = new OpenBatch(acquireArray(needed), ++lastNumber);
      open = batch;
    }
    return batch;
  }

  /** Acquires an array for a message, bigger than others if it has to be. */
  byte[] acquireArray(int needed) {
    byte[] array = needed > batchBytes ? null : pool.pollFirst();
    return array != null ? array : new byte[Math.max(needed, batchBytes)];
  }

  /** Ends the message that is being filled. */
  void seal() {
    OpenBatch batch = open;
    if (batch != null && !batch.isEmpty()) {
      Batch whole = batch.seal(unmarkedBytes >= MARK_BYTES);
      unmarkedBytes = whole.frames.isEmpty() ? unmarkedBytes + whole.length : 0;
      sealed.addLast(whole);
      open = null;
    }
  }

  /**
   * Returns whether an unsent message has an event that has been waited for since before this time.
   */
  boolean hasUnsentBornBefore(long nanos) {
    return sealed.stream()
        .filter(batch -> !batch.resend)
        .flatMap(batch -> batch.frames.stream())
        .anyMatch(frame -> !frame.waiters.isEmpty() && frame.createdNanos - nanos <= 0);
  }

  /** Replaces the waiting messages. */
  void replaceWaiting(List<Batch> batches) {
    sealed.clear();
    sealed.addAll(batches);
  }

  void addControl(byte[] frame) {
    control.addLast(frame);
  }

  /** Adds a barrier behind everything that was added before. */
  void addBarrier(Batch barrier) {
    seal();
    sealed.addLast(barrier);
  }

  /** Takes control frames, as many as fit into a message; null when there are none. */
  @Nullable ByteBuffer nextControl() {
    if (control.isEmpty()) {
      return null;
    }
    ByteArrayOutputStream message = new ByteArrayOutputStream();
    while (!control.isEmpty() && message.size() < batchBytes) {
      message.writeBytes(control.removeFirst());
    }
    return ByteBuffer.wrap(message.toByteArray());
  }

  /** Takes the next message of events, or a barrier, which is then in flight; null for none. */
  @Nullable Batch next() {
    if (moving) {
      inFlight = farewell;
      farewell = null;
      return inFlight;
    }
    if (sealed.isEmpty()) {
      seal();
    }
    inFlight = sealed.pollFirst();
    return inFlight;
  }

  /** Returns the message that the network has not accepted yet; null for none. */
  @Nullable Batch inFlight() {
    return inFlight;
  }

  /** Clears the message in flight: the network has accepted it, or never will. */
  @Nullable Batch takeInFlight() {
    Batch batch = inFlight;
    inFlight = null;
    if (batch != null) {
      sentThrough = Math.max(sentThrough, batch.number);
    }
    return batch;
  }

  /** Returns whether a message is with the network, and nothing before it has to be sent again. */
  boolean isSent(long number) {
    Batch first = sealed.peekFirst();
    return number <= sentThrough && (first == null || !first.resend);
  }

  /** Releases the array of a message. */
  void releaseArray(byte[] array) {
    if (array.length == batchBytes && pool.size() < POOLED_ARRAYS) {
      pool.addFirst(array);
    }
  }

  /** Starts sending over a connection. */
  void open() {
    areOpen = true;
  }

  boolean areOpen() {
    return areOpen;
  }

  /** Stops sending, because there is no connection; frames for the lost one only are dropped. */
  void hold() {
    areOpen = false;
    cancelMove();
    control.clear();
    sealed.removeIf(Batch::isBarrier);
  }

  /** Stops sending events; this barrier goes out before them, and control frames. */
  void beginMove(Batch barrier) {
    moving = true;
    farewell = barrier;
  }

  /** Sends events again. */
  void cancelMove() {
    moving = false;
    farewell = null;
    whenQuiet = null;
  }

  /** Sets the task that runs once when there is nothing left to send before the events. */
  void whenQuiet(Runnable task) {
    whenQuiet = task;
  }

  /** Returns the task of {@link #whenQuiet}, once, if nothing is left to send before the events. */
  @Nullable Runnable takeWhenQuiet() {
    Runnable task = whenQuiet;
    whenQuiet = null;
    return task;
  }

  /** Renumbers all waiting events: see {@link Batch#resequence}. */
  void resequence(ToLongBiFunction<String, Integer> sequenceFor) {
    for (Batch batch : sealed) {
      if (!batch.isBarrier()) {
        batch.resequence(sequenceFor);
      }
    }
  }

  /** Returns the size of a message for more than one event. */
  int batchBytes() {
    return batchBytes;
  }

  /**
   * Returns the waiting messages, in order; those that have to be sent again are put at the front.
   */
  Deque<Batch> waiting() {
    return sealed;
  }

  /** Removes and returns everything. */
  List<Batch> takeAll() {
    seal();
    List<Batch> all = List.copyOf(sealed);
    sealed.clear();
    return all;
  }
}
