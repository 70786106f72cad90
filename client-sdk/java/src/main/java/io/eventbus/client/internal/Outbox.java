package io.eventbus.client.internal;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.Published;
import io.eventbus.client.SendResult;
import io.eventbus.client.WhenFull;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The outbound buffer: takes events from any thread, gives messages to the {@link Sender}, and
 * keeps what is not confirmed. Bounded in bytes.
 *
 * <p>A message's way: {@link OpenBatch} (being filled) → {@code sealed} (waiting) → {@code
 * inFlight} → {@code unconfirmed} (only if it asks for confirmations). When a connection is lost,
 * what is unconfirmed goes back to the head of {@code sealed}, in order, so that the order of each
 * topic is kept and nothing overtakes it.
 *
 * <p>One lock guards everything. It is held for the encoding of one event, never while waiting for
 * the network, and no foreign code runs under it.
 */
final class Outbox {
  private static final int POOLED_ARRAYS = 4;

  /** After so many bytes that nobody waits for, the bus is asked how far it has come. */
  private static final int MARK_BYTES = 256 * 1024;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition room = lock.newCondition();
  private final ClientOptions.Outbound options;
  private final MicroClock clock;
  private final Map<String, TopicState> topics = new ConcurrentHashMap<>();
  private final Deque<byte[]> control = new ArrayDeque<>();
  private final Deque<Batch> sealed = new ArrayDeque<>();
  private final Unconfirmed unconfirmed = new Unconfirmed();
  private final Deque<byte[]> pool = new ArrayDeque<>(POOLED_ARRAYS);

  private Runnable wakeSender = () -> {};
  private int batchBytes;
  private @Nullable OpenBatch open;
  private @Nullable Batch inFlight;
  private boolean senderIdle;
  private boolean connected;
  private boolean closed;
  private long used;
  private long publishedEvents;
  private long droppedFull;
  private long droppedFullTold;
  private long messages;
  private long resent;
  private long unmarkedBytes;

  Outbox(ClientOptions.Outbound options, MicroClock clock) {
    this.options = options;
    this.clock = clock;
    this.batchBytes = options.batchBytes();
  }

  /** Must be called before the first event. */
  void onWork(Runnable wake) {
    wakeSender = wake;
  }

  /** The bus takes no bigger messages than this. */
  void limitMessages(int bytes) {
    lock.lock();
    try {
      batchBytes = Math.min(options.batchBytes(), bytes);
      pool.clear();
    } finally {
      lock.unlock();
    }
  }

  @Nullable TopicState knownTopic(String name) {
    return topics.get(name);
  }

  TopicState topic(String name) {
    TopicState known = topics.get(name);
    return known != null ? known : topics.computeIfAbsent(name, TopicState::new);
  }

  // ---- Publishers

  /**
   * Takes an event.
   *
   * @param stage waits for the confirmation; null for fire and forget
   * @return what became of it
   */
  SendResult add(
      TopicState topic,
      OpenBatch.EncodedEvent event,
      @Nullable CompletableFuture<Published> stage) {
    long cost = event.cost(stage != null);
    boolean wake;
    lock.lock();
    try {
      if (!closed && used > 0 && used + cost > options.bufferBytes()) {
        SendResult refused = whenFull(cost);
        if (refused != null) {
          return refused;
        }
      }
      if (closed) {
        return SendResult.CLOSED;
      }
      OpenBatch batch = openBatch(topic, event.size);
      batch.add(topic, topic.nextSequence++, event, stage, stage == null ? 0 : clock.nanoTime());
      used += cost;
      publishedEvents++;
      wake = takeIdle();
    } finally {
      lock.unlock();
    }
    if (wake) {
      wakeSender.run();
    }
    return SendResult.ACCEPTED;
  }

  private OpenBatch openBatch(TopicState topic, int eventBytes) {
    OpenBatch batch = open;
    if (batch != null && !batch.fits(topic, eventBytes)) {
      seal();
      batch = null;
    }
    if (batch == null) {
      int needed = OpenBatch.capacityFor(topic.bytes.length, eventBytes);
      byte[] array = needed > batchBytes ? null : pool.pollFirst();
      batch = new OpenBatch(array != null ? array : new byte[Math.max(needed, batchBytes)]);
      open = batch;
    }
    return batch;
  }

  private void seal() {
    OpenBatch batch = open;
    if (batch != null && !batch.isEmpty()) {
      Batch whole = batch.seal(unmarkedBytes >= MARK_BYTES);
      unmarkedBytes = whole.frames.isEmpty() ? unmarkedBytes + whole.length : 0;
      sealed.addLast(whole);
      open = null;
    }
  }

  private @Nullable SendResult whenFull(long cost) {
    if (options.whenFull() == WhenFull.FAIL) {
      return SendResult.FULL;
    }
    if (options.whenFull() == WhenFull.DROP) {
      droppedFull++;
      return SendResult.DROPPED;
    }
    long left = options.blockTimeout().toNanos();
    try {
      while (!closed && used > 0 && used + cost > options.bufferBytes()) {
        if (left <= 0) {
          return SendResult.FULL;
        }
        left = room.awaitNanos(left);
      }
      return null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return SendResult.FULL;
    }
  }

  private boolean takeIdle() {
    boolean wake = senderIdle && connected;
    if (wake) {
      senderIdle = false;
    }
    return wake;
  }

  // ---- Control frames: they overtake events, except barriers

  /** Adds a frame for this connection only; it is forgotten when the connection is lost. */
  void addControl(byte[] frame) {
    boolean wake = false;
    lock.lock();
    try {
      if (connected) {
        control.addLast(frame);
        wake = takeIdle();
      }
    } finally {
      lock.unlock();
    }
    if (wake) {
      wakeSender.run();
    }
  }

  /** Adds a frame behind everything that was published before. */
  void addBarrier(byte[] frame, long id) {
    boolean wake = false;
    lock.lock();
    try {
      if (connected) {
        seal();
        sealed.addLast(Batch.ofBarrier(frame, id));
        wake = takeIdle();
      }
    } finally {
      lock.unlock();
    }
    if (wake) {
      wakeSender.run();
    }
  }

  // ---- The sender

  /** Takes the next message; null when there is none, and then the sender will be woken. */
  @Nullable ByteBuffer next() {
    lock.lock();
    try {
      if (!connected || inFlight != null) {
        senderIdle = true;
        return null;
      }
      if (!control.isEmpty()) {
        return controlMessage();
      }
      if (sealed.isEmpty()) {
        seal();
      }
      Batch batch = sealed.pollFirst();
      if (batch == null) {
        senderIdle = true;
        return null;
      }
      inFlight = batch;
      unconfirmed.sending(batch);
      if (!batch.isBarrier()) {
        messages++;
      }
      if (batch.resend) {
        batch.frames.forEach(frame -> resent += frame.eventCount);
      }
      return batch.message();
    } finally {
      lock.unlock();
    }
  }

  private ByteBuffer controlMessage() {
    ByteArrayOutputStream message = new ByteArrayOutputStream();
    while (!control.isEmpty() && message.size() < batchBytes) {
      message.writeBytes(control.removeFirst());
    }
    return ByteBuffer.wrap(message.toByteArray());
  }

  /** The network has taken the message. */
  void sent() {
    lock.lock();
    try {
      Batch batch = inFlight;
      inFlight = null;
      if (batch != null) {
        release(batch.plainCost);
        byte[] free = unconfirmed.sent(batch);
        if (free != null && free.length == batchBytes && pool.size() < POOLED_ARRAYS) {
          pool.addFirst(free);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private void release(long cost) {
    used -= cost;
    // Waking a publisher for every message would let it add a few events and sleep again.
    if (cost > 0 && used <= options.bufferBytes() / 2) {
      room.signalAll();
    }
  }

  // ---- The connection

  /** A connection is ready for events. The sender must be woken after it. */
  void connected() {
    lock.lock();
    try {
      connected = true;
      senderIdle = false;
    } finally {
      lock.unlock();
    }
  }

  /**
   * The connection is lost: what is unconfirmed will be sent again, what was under way and is
   * waited for by nobody is gone.
   *
   * @return how many events that nobody waits for may or may not have been delivered
   */
  long disconnected() {
    lock.lock();
    try {
      connected = false;
      control.clear();
      sealed.removeIf(Batch::isBarrier);
      Batch batch = inFlight;
      inFlight = null;
      if (batch != null) {
        release(batch.plainCost);
        unconfirmed.sent(batch);
      }
      return unconfirmed.giveBack(sealed);
    } finally {
      lock.unlock();
    }
  }

  /** The bus knows this client by a new number: every topic starts again at 1. */
  void resequence() {
    lock.lock();
    try {
      seal();
      for (TopicState topic : topics.values()) {
        topic.nextSequence = 1;
      }
      for (Batch batch : sealed) {
        if (!batch.isBarrier()) {
          batch.resequence(this::nextSequences);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private long nextSequences(String name, int events) {
    TopicState topic = topic(name);
    long first = topic.nextSequence;
    topic.nextSequence += events;
    return first;
  }

  // ---- Answers of the bus

  /**
   * Takes out the frames that a confirmation settles.
   *
   * @param lastSequence of the confirmed frame; it settles all before it in the topic too
   * @param into gets them, in order
   */
  void confirmed(String topicName, long lastSequence, List<PublishFrame> into) {
    TopicState topic = topics.get(topicName);
    if (topic == null) {
      return;
    }
    lock.lock();
    try {
      release(unconfirmed.confirmed(topic, lastSequence, into));
    } finally {
      lock.unlock();
    }
  }

  /** Takes out a frame that the bus has refused; null when nobody waited for it. */
  @Nullable PublishFrame refused(String topicName, long firstSequence) {
    TopicState topic = topics.get(topicName);
    if (topic == null) {
      return null;
    }
    lock.lock();
    try {
      PublishFrame frame = unconfirmed.refused(topic, firstSequence);
      if (frame != null) {
        release(frame.cost);
      }
      return frame;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes out what has waited for too long.
   *
   * @param bornBefore nanoseconds of the {@link MicroClock}
   * @return frames to fail
   */
  List<PublishFrame> expired(long bornBefore) {
    List<PublishFrame> late = new ArrayList<>();
    lock.lock();
    try {
      release(unconfirmed.expired(bornBefore, late));
      if (!connected) {
        seal();
      }
      // What is not sent yet stays where it is, or its sequence numbers would be missing.
      sealed.forEach(batch -> takeLate(batch, bornBefore, late));
      Batch leaving = inFlight;
      if (leaving != null) {
        takeLate(leaving, bornBefore, late);
      }
      return late;
    } finally {
      lock.unlock();
    }
  }

  private static void takeLate(Batch batch, long bornBefore, List<PublishFrame> late) {
    for (PublishFrame frame : batch.frames) {
      if (!frame.waiters.isEmpty() && frame.createdNanos - bornBefore <= 0) {
        late.add(frame.withoutFrame());
      }
    }
  }

  // ---- The end

  /** Takes no more events; what is here still goes out. */
  void close() {
    lock.lock();
    try {
      closed = true;
      room.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Says whether every event is sent and confirmed. */
  boolean isEmpty() {
    lock.lock();
    try {
      // The answer to a barrier may be here before the network has said that the barrier was sent.
      return (inFlight == null || inFlight.isBarrier())
          && sealed.isEmpty()
          && (open == null || open.isEmpty())
          && unconfirmed.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** Gives up what is left, after {@link #close} and {@link #disconnected}. */
  Remains abandon() {
    lock.lock();
    try {
      seal();
      List<PublishFrame> sentFrames = new ArrayList<>();
      List<PublishFrame> unsent = new ArrayList<>();
      long plain = 0;
      for (Batch batch : sealed) {
        plain += batch.plainEvents;
        for (PublishFrame frame : batch.frames) {
          (batch.resend ? sentFrames : unsent).add(frame);
        }
      }
      sealed.clear();
      used = 0;
      return new Remains(sentFrames, unsent, plain);
    } finally {
      lock.unlock();
    }
  }

  /**
   * What was not finished when a client was closed.
   *
   * @param sent frames that may have been delivered
   * @param unsent frames that were not sent
   * @param plainUnsent events without a stage that were not sent
   */
  record Remains(List<PublishFrame> sent, List<PublishFrame> unsent, long plainUnsent) {}

  /** How many events were dropped since the last call because the buffer was full. */
  long takeDropped() {
    lock.lock();
    try {
      long fresh = droppedFull - droppedFullTold;
      droppedFullTold = droppedFull;
      return fresh;
    } finally {
      lock.unlock();
    }
  }

  Snapshot snapshot() {
    lock.lock();
    try {
      return new Snapshot(
          publishedEvents, resent, droppedFull, unconfirmed.indeterminate(), messages, used);
    } finally {
      lock.unlock();
    }
  }

  /** The figures of {@link io.eventbus.client.ClientCounters} that are kept here. */
  record Snapshot(
      long published,
      long resent,
      long droppedFull,
      long indeterminate,
      long messages,
      long used) {}
}
