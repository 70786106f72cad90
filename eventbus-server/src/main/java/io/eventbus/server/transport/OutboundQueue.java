package io.eventbus.server.transport;

import io.eventbus.schema.Overflow;
import io.eventbus.server.routing.Delivery;
import io.eventbus.server.routing.Subscriber;
import io.eventbus.server.routing.Waiters;
import io.eventbus.server.session.LoopContext;
import io.eventbus.server.stats.DropReason;
import io.eventbus.server.stats.SingleWriterCounter;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What waits to be written to one client, bounded in bytes, with the four policies for a full
 * queue.
 *
 * <p>Small frames that are next to each other are copied together into one WebSocket message when
 * they are written; large ones, and one that is alone, are written by reference. Confined to the
 * connection's loop but for {@link #isFull}, {@link #whenNotFull} and {@link #bytes}.
 *
 * <p>Under BLOCK the queue may pass its bound by what was already on its way: {@link #isFull} stops
 * the publishers from then on, until it is half empty. Whatever is dropped is told to the client
 * with {@code Gap}, before the next event of the same topic and producer.
 */
final class OutboundQueue implements Subscriber {
  /** Answers that wait for a client before no more of its requests are served. */
  private static final long MAX_CONTROL_BYTES = 256 * 1024;

  private static final int MAX_GAPS = 10_000;

  private final LoopState loop;
  private final LoopContext context;
  private final WebSocketConnection connection;
  private final long bound;
  private final long slowNanos;
  private final Consumer<String> slow;
  private final DeliveryRing ring = new DeliveryRing();
  private final Waiters waiters = new Waiters();
  private final QueueWriter writer;
  private final SingleWriterCounter delivered = new SingleWriterCounter();
  private final SingleWriterCounter dropped = new SingleWriterCounter();

  private @Nullable QueueGaps gaps;
  private @Nullable Conflater conflater;
  private @Nullable Runnable waitingSession;
  private volatile boolean full;
  private volatile long queued;
  private long fullSince;
  private boolean drainScheduled;
  private boolean usedSinceTick;
  private boolean closed;
  private long oldestNanos;

  OutboundQueue(LoopState loop, WebSocketConnection connection, Consumer<String> slow) {
    this.slow = slow;
    this.loop = loop;
    this.context = loop.context();
    this.connection = connection;
    this.bound = loop.config().limits().queueBytes();
    this.writer = new QueueWriter(loop, connection);
    this.slowNanos = loop.config().timeouts().slowSubscriber().toNanos();
  }

  @Override
  public int loop() {
    return loop.number();
  }

  @Override
  public boolean isFull() {
    return full;
  }

  @Override
  public void whenNotFull(Runnable retry) {
    waiters.add(retry);
    if (!full) {
      waiters.wake();
    }
  }

  /** What waits, in bytes; any thread. */
  long bytes() {
    return queued;
  }

  @Override
  public void offer(Delivery delivery, Overflow overflow) {
    if (closed) {
      context.stats().drops(DropReason.DISCONNECTED).add(delivery.events());
      return;
    }
    context.stats().deliveries.add(delivery.events());
    delivered.add(delivery.events());
    if (overflow != Overflow.CONFLATE) {
      letConflatedGoFirst(delivery);
    }
    boolean overBound = ring.bytes() + delivery.size() > bound;
    switch (overflow) {
      case BLOCK -> {
        enqueue(delivery, overflow);
        if (overBound) {
          markFull();
        }
      }
      case DROP_OLDEST -> offerDropping(delivery, overBound);
      case CONFLATE -> offerConflating(delivery, overBound);
      case DISCONNECT -> {
        if (overBound) {
          tooSlow("its queue of " + bound + " bytes is full and the policy is DISCONNECT");
        } else {
          enqueue(delivery, overflow);
        }
      }
    }
  }

  /**
   * A client that changed the policy of a topic may still have events of it aside; these must not
   * be overtaken. Each topic has one policy at a time, so that this is rare and at most doubles the
   * queue once.
   */
  private void letConflatedGoFirst(Delivery delivery) {
    Conflater c = conflater;
    if (c != null && !c.isEmpty() && c.holds(QueueGaps.topic(delivery))) {
      moveConflated(c, Long.MAX_VALUE);
    }
  }

  /**
   * Moves kept events to the queue, each behind the gaps before it, until the queue has so many
   * bytes.
   */
  private void moveConflated(Conflater c, long upTo) {
    while (ring.bytes() < upTo) {
      Conflater.Kept next = c.poll();
      if (next == null) {
        QueueGaps.tell(context, ring, c.gaps().takeAll());
        return;
      }
      QueueGaps.tell(
          context, ring, c.gaps().takeBefore(next.topic(), next.producer(), next.sequence()));
      ring.add(next.delivery(), Overflow.CONFLATE);
    }
  }

  private void enqueue(Delivery delivery, Overflow overflow) {
    delivery.retain();
    append(delivery, overflow);
  }

  /** Takes over the caller's reference. */
  private void append(Delivery delivery, @Nullable Overflow overflow) {
    if (ring.isEmpty()) {
      oldestNanos = delivery.bornNanos();
    }
    ring.add(delivery, overflow);
    queued = ring.bytes() + conflatedBytes();
    drainSoon();
  }

  private void drainSoon() {
    if (!drainScheduled) {
      drainScheduled = true;
      loop.drainSoon(this);
    }
  }

  private long conflatedBytes() {
    return conflater == null ? 0 : conflater.bytes();
  }

  private void markFull() {
    if (!full) {
      full = true;
      fullSince = System.nanoTime();
    }
  }

  private void offerDropping(Delivery delivery, boolean overBound) {
    if (overBound) {
      ring.dropOldest(ring.bytes() + delivery.size() - bound, d -> drop(d, true));
      if (ring.bytes() + delivery.size() > bound) {
        // What is queued belongs to subscriptions that lose nothing, so the new one goes.
        delivery.retain();
        drop(delivery, false);
        drainSoon();
        return;
      }
    }
    if (gaps != null) {
      gaps.tellBehind(ring);
    }
    enqueue(delivery, Overflow.DROP_OLDEST);
  }

  private void drop(Delivery victim, boolean oldest) {
    countDrop(DropReason.QUEUE_FULL, victim.events());
    QueueGaps g = gaps;
    if (g == null) {
      g = new QueueGaps(context);
      gaps = g;
    }
    g.record(victim, oldest);
    victim.release();
    checkGaps(g.size());
  }

  private void countDrop(DropReason reason, int events) {
    context.stats().drops(reason).add(events);
    dropped.add(events);
  }

  /** Events queued since the start; any thread. */
  long delivered() {
    return delivered.get();
  }

  /** Events dropped by the policies since the start; any thread. */
  long dropped() {
    return dropped.get();
  }

  private void checkGaps(int count) {
    if (count > MAX_GAPS) {
      tooSlow("more than " + MAX_GAPS + " gaps wait to be told");
    }
  }

  private void offerConflating(Delivery delivery, boolean overBound) {
    Conflater c = conflater;
    if (!overBound && (c == null || c.isEmpty())) {
      enqueue(delivery, Overflow.CONFLATE);
      return;
    }
    if (c == null) {
      c = new Conflater(context.allocator(), context.bus().memory(), bound);
      conflater = c;
    }
    Conflater.Dropped lost = c.add(delivery);
    countDrop(DropReason.CONFLATED, lost.conflated());
    countDrop(DropReason.QUEUE_FULL, lost.overLimit());
    queued = ring.bytes() + c.bytes();
    checkGaps(c.gaps().size());
    drainSoon();
  }

  /**
   * Queues a frame that is not a delivery: it is never dropped. Takes over the caller's reference.
   */
  void send(Delivery frame) {
    if (closed) {
      frame.release();
    } else {
      append(frame, null);
    }
  }

  /** Queues a frame that is not a delivery: it is never dropped. */
  void send(byte[] frame) {
    send(Delivery.of(context.allocator(), context.bus().memory(), frame, System.nanoTime()));
  }

  /** Whether the client has to read some answers before more of its requests are served. */
  boolean mustWait(Runnable retry) {
    if (ring.controlBytes() <= MAX_CONTROL_BYTES) {
      return false;
    }
    waitingSession = retry;
    markFull();
    return true;
  }

  /** Writes as much as the socket takes. */
  void drain() {
    drainScheduled = false;
    if (closed) {
      return;
    }
    usedSinceTick = true;
    boolean wrote = false;
    while (connection.isWritable() && refill()) {
      writer.writeNext(ring);
      wrote = true;
    }
    queued = ring.bytes() + conflatedBytes();
    if (wrote) {
      connection.flush();
    }
    onWritten();
    wakeWaiters();
  }

  /**
   * Brings what was kept aside into the queue when there is room; returns whether there is anything
   * to write.
   */
  private boolean refill() {
    if (gaps != null) {
      gaps.tellFront(ring);
      if (ring.isEmpty()) {
        gaps.tellBehind(ring);
      }
    }
    Conflater c = conflater;
    if (c != null) {
      moveConflated(c, QueueWriter.MAX_COALESCED);
    }
    return !ring.isEmpty();
  }

  /** Records how long the oldest event waited, once everything has gone to the socket. */
  void onWritten() {
    if (oldestNanos != 0 && ring.isEmpty() && connection.hasWrittenAll()) {
      context.stats().latency.record(System.nanoTime() - oldestNanos);
      oldestNanos = 0;
    }
  }

  private void wakeWaiters() {
    if (full && ring.bytes() <= bound / 2 && ring.controlBytes() <= MAX_CONTROL_BYTES / 2) {
      full = false;
      waiters.wake();
      Runnable session = waitingSession;
      if (session != null) {
        waitingSession = null;
        session.run();
      }
    }
  }

  /**
   * Closes a client that others have been waiting for too long, and gives back room that is not
   * used.
   */
  void onTick(long nowNanos) {
    if (full && nowNanos - fullSince > slowNanos) {
      tooSlow("its queue has not drained for " + loop.config().timeouts().slowSubscriber());
    }
    if (!usedSinceTick) {
      ring.trim();
    }
    usedSinceTick = false;
  }

  private void tooSlow(String why) {
    slow.accept("too slow: " + why + "; read faster, or choose another overflow policy");
  }

  /** Frees everything; what was queued is lost, and counted. */
  void close() {
    if (closed) {
      return;
    }
    closed = true;
    ring.clear(
        d -> {
          context.stats().drops(DropReason.DISCONNECTED).add(d.events());
          d.release();
        });
    if (conflater != null) {
      context.stats().drops(DropReason.DISCONNECTED).add(conflater.size());
      conflater.clear();
    }
    queued = 0;
    full = false;
    waiters.wake();
  }

  boolean isEmpty() {
    return ring.isEmpty() && (conflater == null || conflater.isEmpty());
  }
}
