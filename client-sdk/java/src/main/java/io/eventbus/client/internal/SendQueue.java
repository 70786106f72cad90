package io.eventbus.client.internal;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.ToLongBiFunction;
import org.jspecify.annotations.Nullable;

/**
 * The part of the {@link Outbox} before the network: the message that is being filled, those that
 * wait to be sent, and control frames, which overtake events. Guarded by the outbox's lock.
 *
 * <p>While the client changes the bus, events wait here until the old bus has said that it has
 * handed on all that it got.
 */
final class SendQueue {
  private static final int POOLED_ARRAYS = 4;

  /** After so many bytes that nobody waits for, the bus is asked how far it has come. */
  private static final int MARK_BYTES = 256 * 1024;

  private final int mostBatchBytes;
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
  private boolean parting;
  private @Nullable Batch farewell;
  private @Nullable Runnable whenQuiet;

  SendQueue(int mostBatchBytes) {
    this.mostBatchBytes = mostBatchBytes;
    this.batchBytes = mostBatchBytes;
  }

  /** The bus takes no bigger messages than this. */
  void limitMessages(int bytes) {
    batchBytes = Math.min(mostBatchBytes, bytes);
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
      batch = new OpenBatch(takeArray(needed), ++lastNumber);
      open = batch;
    }
    return batch;
  }

  /** Takes an array for a message, which is bigger than others if it has to be. */
  byte[] takeArray(int needed) {
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

  /** Says whether an event of a whole message that was never sent is waited for since then. */
  boolean hasUnsentBornBefore(long nanos) {
    return sealed.stream()
        .filter(batch -> !batch.resend)
        .flatMap(batch -> batch.frames.stream())
        .anyMatch(frame -> !frame.waiters.isEmpty() && frame.createdNanos - nanos <= 0);
  }

  /** Puts other messages in the place of those that wait. */
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
    if (parting) {
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

  /** The message that the network has not taken yet; null for none. */
  @Nullable Batch inFlight() {
    return inFlight;
  }

  /** The network has taken it, or never will. */
  @Nullable Batch takeInFlight() {
    Batch batch = inFlight;
    inFlight = null;
    if (batch != null) {
      sentThrough = Math.max(sentThrough, batch.number);
    }
    return batch;
  }

  /** Says whether a message is with the network, and nothing before it has to be sent again. */
  boolean isSent(long number) {
    Batch first = sealed.peekFirst();
    return number <= sentThrough && (first == null || !first.resend);
  }

  /** Takes back the array of a message that needs it no more. */
  void free(byte[] array) {
    if (array.length == batchBytes && pool.size() < POOLED_ARRAYS) {
      pool.addFirst(array);
    }
  }

  /** There is a connection: things go out. */
  void open() {
    areOpen = true;
  }

  boolean areOpen() {
    return areOpen;
  }

  /** There is no connection; what was for the lost one only is forgotten. */
  void hold() {
    areOpen = false;
    stay();
    control.clear();
    sealed.removeIf(Batch::isBarrier);
  }

  /** Events wait from now on; before them this barrier goes out, and control frames. */
  void part(Batch barrier) {
    parting = true;
    farewell = barrier;
  }

  /** Events go out again. */
  void stay() {
    parting = false;
    farewell = null;
    whenQuiet = null;
  }

  /** Sets what is run once when there is nothing left to send before the events. */
  void whenQuiet(Runnable task) {
    whenQuiet = task;
  }

  /** Nothing is left to send before the events: takes what is to be run. */
  @Nullable Runnable takeWhenQuiet() {
    Runnable task = whenQuiet;
    whenQuiet = null;
    return task;
  }

  /** Gives all events that wait new sequence numbers: see {@link Batch#resequence}. */
  void resequence(ToLongBiFunction<String, Integer> sequenceFor) {
    for (Batch batch : sealed) {
      if (!batch.isBarrier()) {
        batch.resequence(sequenceFor);
      }
    }
  }

  /** How big a message is to be that more than one event goes into. */
  int batchBytes() {
    return batchBytes;
  }

  /** The messages that wait, in order; those that have to be sent again are put at the front. */
  Deque<Batch> waiting() {
    return sealed;
  }

  /** Takes everything out. */
  List<Batch> takeAll() {
    seal();
    List<Batch> all = List.copyOf(sealed);
    sealed.clear();
    return all;
  }

  boolean isEmpty() {
    return sealed.isEmpty() && (open == null || open.isEmpty());
  }
}
