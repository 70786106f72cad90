package io.eventbus.client.internal.outbound;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Published;
import io.eventbus.client.SendResult;
import io.eventbus.client.internal.base.MicroClock;
import io.eventbus.client.internal.base.Transport;
import io.eventbus.client.internal.call.CallFrame;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Outbound buffer: takes events from any thread, gives messages to the {@link Sender}, and keeps
 * what is not confirmed. Bounded in bytes.
 *
 * <p>A message is a {@link Batch}. Its way: {@link OpenBatch} (being filled) → {@link SendQueue}
 * (waiting, then in flight) → {@link Unconfirmed} (only if it asks for confirmations). When a
 * connection is lost, what is unconfirmed goes back to the front of the send queue, in order, so
 * that the order of each topic is kept and nothing overtakes it.
 *
 * <p>One lock guards everything. It is held for the encoding of one event, never while waiting for
 * the network, and no foreign code runs under it.
 */
public final class Outbox {
  private final ReentrantLock lock = new ReentrantLock();
  private final MicroClock clock;
  private final PublishedTopics topics;
  private final PublishedTopics.Quiet quiet = this::isQuiet;
  private final Budget budget;
  private final SendQueue queue;
  private final Unconfirmed unconfirmed = new Unconfirmed();
  private final Confirmations confirmations;
  private final CallDepartures calls = new CallDepartures();

  private Runnable wakeSender = () -> {};
  private Runnable wakeForEvent = () -> {};
  private Runnable onRoom = () -> {};
  private boolean senderIdle;
  private Transport.@Nullable Channel connection;
  private long publishedEvents;
  private long messages;
  private long resent;

  public Outbox(ClientOptions.Outbound options, MicroClock clock) {
    this(options, clock, PublishedTopics.MAX_TOPICS);
  }

  Outbox(ClientOptions.Outbound options, MicroClock clock, int maxTopics) {
    this.clock = clock;
    this.topics = new PublishedTopics(maxTopics);
    this.budget = new Budget(options, lock);
    this.queue = new SendQueue(options.batchBytes());
    this.confirmations = new Confirmations(lock, topics, budget, queue, unconfirmed);
  }

  /** Sets the tasks that wake the sender; must be called before the first event. */
  public void onWork(Runnable wake, Runnable wakeForEvent) {
    wakeSender = wake;
    this.wakeForEvent = wakeForEvent;
  }

  /** Sets the maximum size of a message that the bus accepts. */
  public void limitMessages(int bytes) {
    lock.lock();
    try {
      queue.limitMessages(bytes);
    } finally {
      lock.unlock();
    }
  }

  public @Nullable TopicState knownTopic(String name) {
    return topics.known(name);
  }

  public TopicState topic(String name) {
    return topics.get(name);
  }

  private boolean isQuiet(TopicState topic) {
    return queue.isSent(topic.lastBatch);
  }

  // ---- Publishers

  /**
   * Adds an event.
   *
   * @param found its topic, from {@link #topic}
   * @param stage waits for the confirmation; null for fire and forget
   * @param check checks the event once there is room, because the client may have come to a bus
   *     with other limits while it waited; throws an exception if it does not fit
   */
  public SendResult add(
      TopicState found,
      OpenBatch.EncodedEvent event,
      @Nullable CompletableFuture<Published> stage,
      Consumer<OpenBatch.EncodedEvent> check) {
    long cost = event.cost(stage != null);
    boolean wake;
    lock.lock();
    try {
      TopicState topic = topics.use(found, quiet);
      SendResult refused = budget.tryAcquire(cost);
      if (refused != null) {
        return refused;
      }
      try {
        check.accept(event);
      } catch (EventBusException e) {
        budget.release(cost);
        throw e;
      }
      // May have been forgotten while this waited for room.
      topic = topics.use(topic, quiet);
      OpenBatch batch = queue.batchFor(topic, event.size);
      topic.lastBatch = batch.number;
      batch.add(topic, topic.nextSequence++, event, stage, stage == null ? 0 : clock.nanoTime());
      publishedEvents++;
      wake = takeIdle();
    } finally {
      lock.unlock();
    }
    if (wake) {
      wakeForEvent.run();
    }
    return SendResult.ACCEPTED;
  }

  private boolean takeIdle() {
    boolean wake = senderIdle && queue.areOpen();
    if (wake) {
      senderIdle = false;
    }
    return wake;
  }

  // ---- Control frames: they overtake events, except barriers

  /** Adds a frame for this connection only; it is dropped when the connection is lost. */
  public void addControl(byte[] frame) {
    boolean wake = false;
    lock.lock();
    try {
      if (queue.areOpen()) {
        queue.addControl(frame);
        wake = takeIdle();
      }
    } finally {
      lock.unlock();
    }
    if (wake) {
      wakeSender.run();
    }
  }

  /** Adds a barrier behind everything that was published before. */
  void addBarrier(Batch barrier) {
    boolean wake = false;
    lock.lock();
    try {
      if (queue.areOpen()) {
        queue.addBarrier(barrier);
        wake = takeIdle();
      }
    } finally {
      lock.unlock();
    }
    if (wake) {
      wakeSender.run();
    }
  }

  /** Settles what was sent before a barrier that the bus has answered. */
  void answered(Batch barrier) {
    lock.lock();
    try {
      unconfirmed.known(barrier);
    } finally {
      lock.unlock();
    }
  }

  // ---- Calls

  /**
   * Sets the task that runs when {@link #hasRoomForAnswers} becomes true again; before the first
   * call.
   */
  public void onRoomForAnswers(Runnable task) {
    onRoom = task;
  }

  /** Returns whether replies to calls may be added to those that wait. Any thread. */
  boolean hasRoomForAnswers() {
    return calls.hasRoom();
  }

  /**
   * Adds a frame of a call; returns false if the frame is for another connection than the present
   * one. A frame that goes over any connection is dropped when there is none.
   *
   * @param here whether the calling thread may send it: as a publisher's, it holds no lock then
   */
  boolean addCall(CallFrame frame, boolean here) {
    boolean wake = false;
    lock.lock();
    try {
      if (frame.path() != null && frame.path() != connection) {
        return false;
      }
      if (queue.areOpen()) {
        calls.add(frame, clock.nanoTime());
        wake = takeIdle();
      }
    } finally {
      lock.unlock();
    }
    if (wake) {
      (here ? wakeForEvent : wakeSender).run();
    }
    return true;
  }

  // ---- The sender

  /**
   * Takes the next message; null when there is none, and then the sender will be woken.
   *
   * @param over the connection for it: nothing for one that has been replaced meanwhile
   */
  @Nullable ByteBuffer next(Transport.Channel over) {
    Runnable quiet = null;
    ByteBuffer message;
    boolean room;
    lock.lock();
    try {
      if (over != connection || !queue.areOpen() || queue.inFlight() != null) {
        senderIdle = true;
        return null;
      }
      message = queue.nextControl();
      if (message == null) {
        message = nextOfEventsOrCalls(over);
      }
      room = calls.takeRoom();
      if (message == null) {
        senderIdle = true;
        quiet = queue.takeWhenQuiet();
      }
    } finally {
      lock.unlock();
    }
    if (room) {
      onRoom.run();
    }
    if (quiet != null) {
      quiet.run();
    }
    return message;
  }

  /**
   * Alternates between events and calls, so that neither waits for all of the other. At the end
   * calls go first: no more come, and the last barrier, with whose answer the connection is closed,
   * has to be behind them.
   */
  private @Nullable ByteBuffer nextOfEventsOrCalls(Transport.Channel over) {
    long now = clock.nanoTime();
    boolean yields = calls.yields() && !budget.isClosed();
    ByteBuffer ofCalls = yields ? null : calls.next(over, queue, now);
    if (ofCalls != null) {
      return ofCalls;
    }
    calls.yielded();
    Batch batch = queue.next();
    if (batch != null) {
      return leaving(batch);
    }
    return yields ? calls.next(over, queue, now) : null;
  }

  private ByteBuffer leaving(Batch batch) {
    unconfirmed.sending(batch);
    if (!batch.isBarrier()) {
      messages++;
    }
    if (batch.resend) {
      batch.frames.forEach(frame -> resent += frame.eventCount);
    }
    return batch.message();
  }

  /** Called when the network has accepted the message. */
  void sent() {
    lock.lock();
    try {
      byte[] freed = calls.sent();
      if (freed != null) {
        queue.releaseArray(freed);
      }
      Batch batch = queue.takeInFlight();
      if (batch != null) {
        budget.release(batch.plainCost);
        byte[] free = unconfirmed.sent(batch);
        if (free != null) {
          queue.releaseArray(free);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  // ---- The connection

  /** Opens the buffer for a connection. The sender must be woken after it. */
  public void connected(Transport.Channel over) {
    lock.lock();
    try {
      connection = over;
      queue.open();
      senderIdle = false;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns unconfirmed messages to the queue, because the connection is lost. Returns how many
   * events that nobody waits for may or may not have been delivered.
   */
  public long disconnected() {
    lock.lock();
    try {
      connection = null;
      queue.hold();
      calls.clear();
      Batch batch = queue.takeInFlight();
      if (batch != null) {
        budget.release(batch.plainCost);
        unconfirmed.sent(batch);
      }
      return unconfirmed.giveBack(queue.waiting());
    } finally {
      lock.unlock();
    }
  }

  // ---- A move

  /** Stops sending events; the barrier goes out behind all that was sent. */
  public void beginMove(Batch barrier) {
    change(() -> queue.beginMove(barrier));
  }

  /**
   * Runs a task once when nothing is left to send to the bus that is to be left; requests to
   * services wait from now on, too.
   */
  public void whenQuiet(Runnable task) {
    change(
        () -> {
          calls.holdRequests();
          queue.whenQuiet(task);
        });
  }

  /** Sends events again, because the client does not leave. */
  public void cancelMove() {
    change(
        () -> {
          calls.goOn();
          queue.cancelMove();
        });
  }

  private void change(Runnable how) {
    lock.lock();
    try {
      how.run();
      senderIdle = false;
    } finally {
      lock.unlock();
    }
    wakeSender.run();
  }

  /**
   * Sends events over another connection, because the old bus has forwarded all that it got.
   * Returns replies of the connection before that are not sent. The sender must be told after it.
   */
  public List<CallFrame> moved(Transport.Channel over) {
    lock.lock();
    try {
      connection = over;
      queue.cancelMove();
      calls.goOn();
      // Nothing, unless the bus has not confirmed what it should have.
      unconfirmed.giveBack(queue.waiting());
      senderIdle = false;
      calls.sent();
      return calls.takeAnswers();
    } finally {
      lock.unlock();
    }
  }

  /** Renumbers all topics from 1, because the bus knows this client by a new number. */
  public void resequence() {
    lock.lock();
    try {
      queue.seal();
      topics.restart();
      queue.resequence(this::nextSequences);
    } finally {
      lock.unlock();
    }
  }

  private long nextSequences(String name, int events) {
    TopicState topic = topics.use(topic(name), quiet);
    long first = topic.nextSequence;
    topic.nextSequence += events;
    return first;
  }

  /**
   * Repacks what waits into messages that the bus accepts, because it has a lower limit than the
   * events were checked for. The result includes what it does not accept, which is removed here. To
   * be called without a connection, after {@link #limitMessages}.
   */
  public BatchSplitter.Result recut(Predicate<OpenBatch.EncodedEvent> fits) {
    lock.lock();
    try {
      queue.seal();
      BatchSplitter recut = BatchSplitter.toLimits(queue.batchBytes(), fits, this::topic);
      queue.waiting().forEach(recut::add);
      BatchSplitter.Result result = recut.result();
      queue.replaceWaiting(result.batches());
      budget.release(result.freed());
      return result;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the part that settles what the bus has answered. */
  public Confirmations confirmations() {
    return confirmations;
  }

  // ---- The end

  /** Stops taking events; what is here still goes out. */
  public void close() {
    lock.lock();
    try {
      budget.close();
    } finally {
      lock.unlock();
    }
  }

  /** Returns what is left as given up, after {@link #close} and {@link #disconnected}. */
  public Remains abandon() {
    lock.lock();
    try {
      List<PublishFrame> sentFrames = new ArrayList<>();
      List<PublishFrame> unsent = new ArrayList<>();
      long plain = 0;
      for (Batch batch : queue.takeAll()) {
        plain += batch.plainEvents;
        for (PublishFrame frame : batch.frames) {
          (batch.resend ? sentFrames : unsent).add(frame);
        }
      }
      budget.clear();
      return new Remains(sentFrames, unsent, plain);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Unfinished events of a client that was closed.
   *
   * @param sent frames that may have been delivered
   * @param unsent frames that were not sent
   * @param plainUnsent number of events without a stage that were not sent
   */
  public record Remains(List<PublishFrame> sent, List<PublishFrame> unsent, long plainUnsent) {}

  /** Returns the number of events that the bus has not acknowledged. */
  public long unsettled() {
    lock.lock();
    try {
      queue.seal();
      long events = unconfirmed.unsettled();
      for (Batch batch : queue.waiting()) {
        events += batch.plainEvents + batch.unconfirmedEvents();
      }
      Batch leaving = queue.inFlight();
      // Its plain events count as sent.
      return leaving == null ? events : events + leaving.unconfirmedEvents();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the number of events that were dropped since the last call because the buffer was full.
   */
  public long takeDropped() {
    lock.lock();
    try {
      return budget.takeDropped();
    } finally {
      lock.unlock();
    }
  }

  public Snapshot snapshot() {
    lock.lock();
    try {
      return new Snapshot(
          publishedEvents,
          resent,
          budget.dropped(),
          unconfirmed.indeterminate(),
          messages,
          topics.size(),
          budget.used());
    } finally {
      lock.unlock();
    }
  }

  /** Figures of {@link io.eventbus.client.ClientCounters} that are kept here. */
  public record Snapshot(
      long published,
      long resent,
      long droppedFull,
      long indeterminate,
      long messages,
      long topics,
      long used) {}
}
