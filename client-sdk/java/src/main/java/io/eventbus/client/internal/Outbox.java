package io.eventbus.client.internal;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Published;
import io.eventbus.client.SendResult;
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
 * The outbound buffer: takes events from any thread, gives messages to the {@link Sender}, and
 * keeps what is not confirmed. Bounded in bytes.
 *
 * <p>A message's way: {@link OpenBatch} (being filled) → {@link SendQueue} (waiting) → {@code
 * inFlight} → {@code unconfirmed} (only if it asks for confirmations). When a connection is lost,
 * what is unconfirmed goes back to the front of the departures, in order, so that the order of each
 * topic is kept and nothing overtakes it.
 *
 * <p>One lock guards everything. It is held for the encoding of one event, never while waiting for
 * the network, and no foreign code runs under it.
 */
final class Outbox {
  private final ReentrantLock lock = new ReentrantLock();
  private final MicroClock clock;
  private final PublishedTopics topics;
  private final PublishedTopics.Quiet quiet = this::isQuiet;
  private final Budget budget;
  private final SendQueue departures;
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

  Outbox(ClientOptions.Outbound options, MicroClock clock) {
    this(options, clock, PublishedTopics.MAX);
  }

  Outbox(ClientOptions.Outbound options, MicroClock clock, int mostTopics) {
    this.clock = clock;
    this.topics = new PublishedTopics(mostTopics);
    this.budget = new Budget(options, lock);
    this.departures = new SendQueue(options.batchBytes());
    this.confirmations = new Confirmations(lock, topics, budget, departures, unconfirmed);
  }

  /** Must be called before the first event. */
  void onWork(Runnable wake, Runnable wakeForEvent) {
    wakeSender = wake;
    this.wakeForEvent = wakeForEvent;
  }

  /** The bus takes no bigger messages than this. */
  void limitMessages(int bytes) {
    lock.lock();
    try {
      departures.limitMessages(bytes);
    } finally {
      lock.unlock();
    }
  }

  @Nullable TopicState knownTopic(String name) {
    return topics.known(name);
  }

  TopicState topic(String name) {
    return topics.get(name);
  }

  private boolean isQuiet(TopicState topic) {
    return departures.isSent(topic.lastBatch);
  }

  // ---- Publishers

  /**
   * Takes an event.
   *
   * @param found where to: {@link #topic}
   * @param stage waits for the confirmation; null for fire and forget
   * @param check looks at the event once there is room: the client may have come to a bus with
   *     other limits while it waited. Throws an exception where it does not fit
   */
  SendResult add(
      TopicState found,
      OpenBatch.EncodedEvent event,
      @Nullable CompletableFuture<Published> stage,
      Consumer<OpenBatch.EncodedEvent> check) {
    long cost = event.cost(stage != null);
    boolean wake;
    lock.lock();
    try {
      TopicState topic = topics.use(found, quiet);
      SendResult refused = budget.take(cost);
      if (refused != null) {
        return refused;
      }
      try {
        check.accept(event);
      } catch (EventBusException e) {
        budget.release(cost);
        throw e;
      }
      // It may have been forgotten while this waited for room.
      topic = topics.use(topic, quiet);
      OpenBatch batch = departures.batchFor(topic, event.size);
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
    boolean wake = senderIdle && departures.areOpen();
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
      if (departures.areOpen()) {
        departures.addControl(frame);
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
      if (departures.areOpen()) {
        departures.addBarrier(barrier);
        wake = takeIdle();
      }
    } finally {
      lock.unlock();
    }
    if (wake) {
      wakeSender.run();
    }
  }

  /** The bus has answered a barrier: what was sent before it has arrived. */
  void answered(Batch barrier) {
    lock.lock();
    try {
      unconfirmed.known(barrier);
    } finally {
      lock.unlock();
    }
  }

  // ---- Calls

  /** Sets what is run when {@link #hasRoomForAnswers} is true again; before the first call. */
  void onRoomForAnswers(Runnable task) {
    onRoom = task;
  }

  /** Any thread: whether answers to calls may be added to those that wait. */
  boolean hasRoomForAnswers() {
    return calls.hasRoom();
  }

  /**
   * Adds a frame of a call. One that goes over any connection is forgotten when there is none.
   *
   * @param here whether the calling thread may send it: as a publisher's, it holds no lock then
   * @return false if the frame is for another connection than this has
   */
  boolean addCall(CallFrame frame, boolean here) {
    boolean wake = false;
    lock.lock();
    try {
      if (frame.path() != null && frame.path() != connection) {
        return false;
      }
      if (departures.areOpen()) {
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
   * @param over where it will be sent: nothing for a connection that has been replaced meanwhile
   */
  @Nullable ByteBuffer next(Transport.Channel over) {
    Runnable quiet = null;
    ByteBuffer message;
    boolean room;
    lock.lock();
    try {
      if (over != connection || !departures.areOpen() || departures.inFlight() != null) {
        senderIdle = true;
        return null;
      }
      message = departures.nextControl();
      if (message == null) {
        message = nextOfEventsOrCalls(over);
      }
      room = calls.takeRoom();
      if (message == null) {
        senderIdle = true;
        quiet = departures.takeWhenQuiet();
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
   * In turn, so that neither waits for all of the other. At the end calls go first: no more come,
   * and the last barrier, with whose answer the connection is closed, has to be behind them.
   */
  private @Nullable ByteBuffer nextOfEventsOrCalls(Transport.Channel over) {
    long now = clock.nanoTime();
    boolean yields = calls.yields() && !budget.isClosed();
    ByteBuffer ofCalls = yields ? null : calls.next(over, departures, now);
    if (ofCalls != null) {
      return ofCalls;
    }
    calls.yielded();
    Batch batch = departures.next();
    if (batch != null) {
      return leaving(batch);
    }
    return yields ? calls.next(over, departures, now) : null;
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

  /** The network has taken the message. */
  void sent() {
    lock.lock();
    try {
      byte[] freed = calls.sent();
      if (freed != null) {
        departures.free(freed);
      }
      Batch batch = departures.takeInFlight();
      if (batch != null) {
        budget.release(batch.plainCost);
        byte[] free = unconfirmed.sent(batch);
        if (free != null) {
          departures.free(free);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  // ---- The connection

  /** A connection is ready for events. The sender must be woken after it. */
  void connected(Transport.Channel over) {
    lock.lock();
    try {
      connection = over;
      departures.open();
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
      connection = null;
      departures.hold();
      calls.clear();
      Batch batch = departures.takeInFlight();
      if (batch != null) {
        budget.release(batch.plainCost);
        unconfirmed.sent(batch);
      }
      return unconfirmed.giveBack(departures.waiting());
    } finally {
      lock.unlock();
    }
  }

  // ---- A change of bus

  /** Events wait from now on, and this barrier goes out behind all that was sent. */
  void part(Batch barrier) {
    change(() -> departures.part(barrier));
  }

  /**
   * Runs a task once when nothing is left to send to the bus that is to be left; requests to
   * services wait from now on, too.
   */
  void whenQuiet(Runnable task) {
    change(
        () -> {
          calls.holdRequests();
          departures.whenQuiet(task);
        });
  }

  /** The client does not leave: events go out again. */
  void stay() {
    change(
        () -> {
          calls.goOn();
          departures.stay();
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
   * The client has left a bus that has handed on all that it got: events go out over this
   * connection. The sender must be told after it.
   *
   * @return answers to calls of the connection before, which are not sent
   */
  List<CallFrame> moved(Transport.Channel over) {
    lock.lock();
    try {
      connection = over;
      departures.stay();
      calls.goOn();
      // Nothing, unless the bus has not answered what it should have.
      unconfirmed.giveBack(departures.waiting());
      senderIdle = false;
      calls.sent();
      return calls.takeAnswers();
    } finally {
      lock.unlock();
    }
  }

  /** The bus knows this client by a new number: every topic starts again at 1. */
  void resequence() {
    lock.lock();
    try {
      departures.seal();
      topics.startAgain();
      departures.resequence(this::nextSequences);
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
   * The bus takes less than the one that events were checked for: what waits is put into messages
   * that it takes. To be called without a connection, after {@link #limitMessages}.
   *
   * @return among other things what it does not take, which is not here any more
   */
  BatchSplitter.Result recut(Predicate<OpenBatch.EncodedEvent> fits) {
    lock.lock();
    try {
      departures.seal();
      BatchSplitter recut = BatchSplitter.toLimits(departures.batchBytes(), fits, this::topic);
      departures.waiting().forEach(recut::add);
      BatchSplitter.Result result = recut.result();
      departures.replaceWaiting(result.batches());
      budget.release(result.freed());
      return result;
    } finally {
      lock.unlock();
    }
  }

  /** What the bus answers goes here. */
  Confirmations confirmations() {
    return confirmations;
  }

  // ---- The end

  /** Takes no more events; what is here still goes out. */
  void close() {
    lock.lock();
    try {
      budget.close();
    } finally {
      lock.unlock();
    }
  }

  /** Says whether every event is sent and confirmed. */
  boolean isEmpty() {
    lock.lock();
    try {
      // The answer to a barrier may be here before the network has said that the barrier was sent.
      Batch leaving = departures.inFlight();
      return (leaving == null || leaving.isBarrier())
          && departures.isEmpty()
          && unconfirmed.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** Gives up what is left, after {@link #close} and {@link #disconnected}. */
  Remains abandon() {
    lock.lock();
    try {
      List<PublishFrame> sentFrames = new ArrayList<>();
      List<PublishFrame> unsent = new ArrayList<>();
      long plain = 0;
      for (Batch batch : departures.takeAll()) {
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
   * What was not finished when a client was closed.
   *
   * @param sent frames that may have been delivered
   * @param unsent frames that were not sent
   * @param plainUnsent events without a stage that were not sent
   */
  record Remains(List<PublishFrame> sent, List<PublishFrame> unsent, long plainUnsent) {}

  /** Counts the events of which the bus has not said that it has them. */
  long unsettled() {
    lock.lock();
    try {
      departures.seal();
      long events = unconfirmed.unsettled();
      for (Batch batch : departures.waiting()) {
        events += batch.plainEvents + batch.unconfirmedEvents();
      }
      Batch leaving = departures.inFlight();
      // Its plain events count as sent.
      return leaving == null ? events : events + leaving.unconfirmedEvents();
    } finally {
      lock.unlock();
    }
  }

  /** How many events were dropped since the last call because the buffer was full. */
  long takeDropped() {
    lock.lock();
    try {
      return budget.takeDropped();
    } finally {
      lock.unlock();
    }
  }

  Snapshot snapshot() {
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

  /** The figures of {@link io.eventbus.client.ClientCounters} that are kept here. */
  record Snapshot(
      long published,
      long resent,
      long droppedFull,
      long indeterminate,
      long messages,
      long topics,
      long used) {}
}
