package io.eventbus.server.queue;

import io.eventbus.link.RefusedMemory;
import io.eventbus.schema.Overflow;
import io.eventbus.server.config.ValueType;
import io.eventbus.server.quota.ConnectionQuota;
import io.eventbus.server.routing.Delivery;
import io.eventbus.server.routing.DeliveryKind;
import io.eventbus.server.routing.Subscriber;
import io.eventbus.server.routing.WakeupList;
import io.eventbus.server.session.LoopContext;
import io.eventbus.server.stats.DropReason;
import io.eventbus.server.stats.SingleWriterCounter;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What waits to be written to one client, bounded in bytes, with the four policies for a full
 * queue.
 *
 * <p>Small frames that are next to each other are copied together into one message when they are
 * written; large ones, and one that is alone, are written by reference. Confined to the
 * connection's loop but for {@link #isFull}, {@link #isCrowded}, {@link #whenNotFull} and {@link
 * #bytes}.
 *
 * <p>Under BLOCK the queue may pass its bound by what was already on its way: {@link #isFull} stops
 * the publishers from then on, until it is half empty. Whatever is dropped is told to the client
 * with {@code Gap}, before the next event of the same topic and producer.
 *
 * <p>Each event that it takes counts once in {@link #delivered}, and is written or counts in {@link
 * #dropped}, never both: these two are never more than the first, and as many when nothing waits.
 *
 * <p>It is one class because the policies share its state: the bound, the waiters for room, the
 * pace of the client.
 */
public final class OutboundQueue implements Subscriber {
  /** Answers that wait for a client before no more of its requests are served. */
  private static final long MAX_CONTROL_BYTES = 256 * 1024;

  private static final int MAX_GAPS = 10_000;

  /** What a range that is to be told takes, with its topic. */
  private static final int GAP_BYTES = 512;

  /** What a {@code Drained} takes at most while it waits. */
  private static final long DRAINED_BYTES = 160;

  /** Bytes of one connection that are deflated before others have their turn. */
  private static final int DEFLATED_IN_TURN = 64 * 1024;

  /** A queue that is full for less is not what holds publishers back. */
  private static final long BRIEF_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** Of the last 32 ticks, three seconds, so many have to find nothing in the queue. */
  private static final int STARVING_TICKS = 24;

  private final QueueContext loop;
  private final LoopContext context;
  private final MessageSink sink;
  private final long bound;
  private final Supplier<String> owner;
  private final Consumer<String> slow;
  private final Consumer<String> heldTooLong;
  private final SlowConsumerDetector pace;

  // From the first time that the queue is full; written before it is.
  private HoldBudgets.@Nullable Shared holdBudget;
  private final Backlog backlog;
  private final DeliveryRing ring;
  private final WakeupList waiters = new WakeupList();
  private final QueueWriter writer;
  private final DeliveryCredit credit = new DeliveryCredit();
  private final SingleWriterCounter delivered = new SingleWriterCounter();
  private final SingleWriterCounter dropped = new SingleWriterCounter();

  private @Nullable ConnectionQuota quotas;
  private @Nullable Runnable waitingSession;
  private boolean inputWaits;
  private long mostControlBytes = MAX_CONTROL_BYTES;
  private volatile boolean full;
  private volatile boolean starving;
  // When it became full; for the publishers that are held.
  private volatile long fullSince;
  private boolean mayBlock = true;
  private int idleTicks;
  private volatile long queued;
  private boolean usedSinceTick;
  private boolean closed;
  private long heapBytes;
  private LongConsumer onBulkWritten = frames -> {};
  private long bulkTold;

  /**
   * Makes an empty queue.
   *
   * @param loop what the queues of its loop share
   * @param sink where it is written to
   * @param owner whose budget for holding publishers back the client uses: the same for all clients
   *     of one identity, or of one address if they have no name
   * @param heldTooLong tells the client that it may hold publishers back no longer
   */
  public OutboundQueue(
      QueueContext loop,
      MessageSink sink,
      Supplier<String> owner,
      Consumer<String> slow,
      Consumer<String> heldTooLong) {
    this.owner = owner;
    this.slow = slow;
    this.heldTooLong = heldTooLong;
    this.loop = loop;
    this.context = loop.session();
    this.sink = sink;
    this.bound = context.bus().limits().queueBytes();
    this.backlog = new Backlog(context, loop.lastEvents(), bound);
    this.ring = backlog.ring();
    this.writer = new QueueWriter(context, sink, credit);
    this.pace = new SlowConsumerDetector(loop.timeouts(), bound);
  }

  @Override
  public int loop() {
    return loop.loop();
  }

  @Override
  public boolean isFull() {
    return full;
  }

  @Override
  public boolean isCrowded() {
    return full || queued > bound / 2;
  }

  @Override
  public boolean isStarving() {
    return starving;
  }

  /** A queue that is emptied quickly is one that all are waiting for on a busy machine. */
  @Override
  public void chargeHold(long nanos) {
    if (full && System.nanoTime() - fullSince > BRIEF_NANOS && holdBudget != null) {
      holdBudget.charge(nanos);
    }
  }

  @Override
  public void whenNotFull(Runnable retry) {
    waiters.add(retry);
    if (!full) {
      waiters.wake();
    }
  }

  /** Holds what waits against quotas from now on; null for none. */
  public void share(@Nullable ConnectionQuota share) {
    quotas = share;
    if (share == null) {
      backlog.bound(bound);
    } else {
      share.holds(queued);
    }
  }

  /** While others of the same identity or account hold much, there is less room for this one. */
  private void rebound() {
    if (quotas != null) {
      backlog.bound(quotas.queueBound(bound));
    }
  }

  /** What waits, in bytes; any thread. */
  public long bytes() {
    return queued;
  }

  @Override
  public void offer(Delivery delivery, Overflow overflow) {
    if (closed) {
      context.stats().drops(DropReason.DISCONNECTED).add(delivery.events());
      return;
    }
    try {
      if (!mustLeaveSlab(delivery)) {
        take(delivery, overflow);
        return;
      }
      Delivery own = delivery.copy(backlog.own());
      try {
        take(own, overflow);
      } finally {
        own.release();
      }
    } catch (OutOfMemoryError e) {
      RefusedMemory.rethrowOthers(e);
      countDrop(DropReason.DISCONNECTED, delivery.events());
      tooSlow("there is no memory for what waits for it");
    }
  }

  @Override
  public void failed(Delivery delivery) {
    countDrop(DropReason.DISCONNECTED, delivery.events());
    slow.accept("the bus met an unexpected error with what was to be delivered; reconnect");
  }

  /** What will wait for this client must not keep what others have long been given. */
  private boolean mustLeaveSlab(Delivery delivery) {
    return delivery.isInSlab() && !canDeliver();
  }

  /** Whether a delivery could be written now. */
  private boolean canDeliver() {
    return sink.isWritable() && deliverable() > 0;
  }

  /**
   * Bytes that a further delivery may begin in. The limit does not hold while the client is not
   * read, because its next credit could not come: two clients that wait for each other's queues
   * would wait for ever.
   */
  private long deliverable() {
    return inputWaits || waitingSession != null ? Long.MAX_VALUE : credit.left();
  }

  private void take(Delivery delivery, Overflow policy) {
    rebound();
    Overflow overflow = policy == Overflow.BLOCK && !mayBlock ? Overflow.DROP_OLDEST : policy;
    context.stats().deliveries.add(delivery.events());
    delivered.add(delivery.events());
    if (overflow != Overflow.CONFLATE) {
      backlog.letConflatedGoFirst(delivery);
    }
    if (overflow != Overflow.BLOCK && !backlog.fits(delivery) && canDeliver()) {
      // The client takes what it gets; only the round has not ended yet. No policy is needed.
      write();
      if (closed) {
        countDrop(DropReason.DISCONNECTED, delivery.events());
        return;
      }
    }
    switch (overflow) {
      case BLOCK -> {
        if (backlog.fits(delivery) || markFull()) {
          backlog.add(delivery, overflow);
        } else {
          countDrop(DropReason.QUEUE_FULL, backlog.addDropping(delivery));
        }
      }
      case DROP_OLDEST -> countDrop(DropReason.QUEUE_FULL, backlog.addDropping(delivery));
      case CONFLATE -> offerConflating(delivery);
      case DISCONNECT -> {
        if (!backlog.fits(delivery)) {
          countDrop(DropReason.DISCONNECTED, delivery.events());
          tooSlow(
              "its queue of " + backlog.bound() + " bytes is full and the policy is DISCONNECT");
          return;
        }
        backlog.add(delivery, overflow);
      }
    }
    changed();
  }

  private void offerConflating(Delivery delivery) {
    // From the first event that waits, not when the queue is full: a reader that is behind by a
    // whole queue sees nothing that is new.
    if (!canDeliver() || backlog.needsConflation(delivery)) {
      Conflater.Dropped lost = backlog.addConflating(delivery);
      countDrop(DropReason.CONFLATED, lost.conflated());
      countDrop(DropReason.QUEUE_FULL, lost.overLimit());
    } else {
      backlog.add(delivery, Overflow.CONFLATE);
    }
  }

  /** Publishes what is held now, and counts as memory what is no delivery. */
  private void account(int gaps) {
    long told = (long) GAP_BYTES * gaps;
    long now = told + backlog.heapBytes();
    long change = now - heapBytes;
    heapBytes = now;
    context.bus().memory().change(change);
    queued = backlog.bytes() + told;
    if (quotas != null) {
      quotas.holds(queued);
    }
  }

  private void changed() {
    int gaps = backlog.gapCount();
    account(gaps);
    sink.drainSoon();
    if (gaps > MAX_GAPS) {
      tooSlow("more than " + MAX_GAPS + " gaps wait to be told");
    }
  }

  /** Holds publishers back from now on; returns false if the client may not. */
  private boolean markFull() {
    if (!full) {
      long now = System.nanoTime();
      if (holdBudget(now).isUsedUp(now)) {
        holdNoLonger();
        return false;
      }
      fullSince = now;
      full = true;
      pace.full(now);
    }
    return true;
  }

  private HoldBudgets.Shared holdBudget(long now) {
    HoldBudgets.Shared budget = holdBudget;
    if (budget == null) {
      budget = loop.budgets().acquire(owner.get(), now);
      holdBudget = budget;
    }
    return budget;
  }

  private void leaveHoldBudget() {
    HoldBudgets.Shared budget = holdBudget;
    if (budget != null) {
      long now = System.nanoTime();
      if (full) {
        // Or one connection after the other would hold publishers back for a time that is not seen.
        budget.charge(Math.min(now - fullSince, BRIEF_NANOS));
      }
      loop.budgets().release(budget, now);
    }
  }

  private void countDrop(DropReason reason, int events) {
    context.stats().drops(reason).add(events);
    dropped.add(events);
  }

  /** Events queued since the start; any thread. */
  public long delivered() {
    return delivered.get();
  }

  /** Events dropped by the policies since the start; any thread. */
  public long dropped() {
    return dropped.get();
  }

  /**
   * Queues a frame to which no policy applies: it is never dropped. Takes over the caller's
   * reference.
   */
  public void send(Delivery frame) {
    if (closed) {
      frame.release();
      return;
    }
    Delivery kept = frame;
    if (mustLeaveSlab(frame)) {
      kept = frame.copy(backlog.own());
      frame.release();
    }
    backlog.addFrame(kept);
    changed();
  }

  /** Queues an answer: it is never dropped. */
  public void send(byte[] frame) {
    send(DeliveryKind.CONTROL, frame);
  }

  /** As {@link #send(byte[])}, but behind every event that was queued before. */
  public void sendLast(byte[] frame) {
    send(DeliveryKind.MARKER, frame);
  }

  private void send(DeliveryKind kind, byte[] frame) {
    send(Delivery.of(context.allocator(), context.bus().memory(), kind, frame, System.nanoTime()));
  }

  /**
   * Whether there is room for a frame of a call: as much of them as of events may wait for a
   * client.
   */
  public boolean hasRoomForCall(int frameBytes) {
    return backlog.overtakingBytes() + frameBytes <= bound;
  }

  /** How many calls for the client were given to the socket; they are written in their order. */
  public long invokesWritten() {
    return backlog.invokesWritten();
  }

  /** Whether the client has to read some answers before more of its requests are served. */
  public boolean mustWait(Runnable retry) {
    if (!hasTooManyAnswers(0)) {
      return false;
    }
    waitingSession = retry;
    pace.answersWait(System.nanoTime());
    if (credit.isLimited()) {
      sink.drainSoon();
    }
    return true;
  }

  /** Whether so many answers wait that there is no room for as many bytes more. */
  private boolean hasTooManyAnswers(long room) {
    return backlog.controlBytes() + room > mostControlBytes
        || backlog.answerBytes() + room > MAX_CONTROL_BYTES;
  }

  /**
   * Delivers only while fewer than so many bytes of deliveries have been written, from the first
   * call on. Answers overtake deliveries then.
   */
  public void grant(long limit) {
    if (credit.grant(limit)) {
      backlog.letAnswersOvertake();
      // As many as the client may have to wait for: were it not served for them, its next credit
      // would not be seen.
      mostControlBytes += DRAINED_BYTES * context.bus().limits().subscriptions();
    }
    sink.drainSoon();
  }

  /** Says whether the client is not read, because what it has sent waits for room or memory. */
  public void inputWaits(boolean waits) {
    if (waits && !inputWaits && credit.isLimited()) {
      sink.drainSoon();
    }
    inputWaits = waits;
  }

  /** The client's frames are not looked at any more: it gets what is queued without credit. */
  public void endCredit() {
    if (credit.isLimited()) {
      grant(Long.MAX_VALUE);
    }
  }

  /** Writes as much as the socket takes. */
  public void drain() {
    if (!closed) {
      write();
    }
  }

  private void write() {
    usedSinceTick = true;
    boolean wrote = false;
    long now = System.nanoTime();
    int deflated = 0;
    for (DeliveryRing next = next(); next != null; next = next()) {
      if (deflated > DEFLATED_IN_TURN) {
        // Others first: it takes milliseconds.
        sink.drainSoon();
        break;
      }
      long before = next.bytes();
      deflated += writer.writeNext(next, next == ring ? deliverable() : Long.MAX_VALUE, now);
      long bytes = before - next.bytes();
      backlog.wrote(next, bytes);
      if (next == ring) {
        pace.wrote(bytes);
      }
      wrote = true;
    }
    account(backlog.gapCount());
    if (wrote) {
      sink.flush();
    }
    wakeWaiters();
    long bulk = backlog.bulkWritten();
    if (bulk != bulkTold) {
      bulkTold = bulk;
      onBulkWritten.accept(bulk);
    }
  }

  /** Has it told how much of streams and tunnels was written. */
  public void onBulkWritten(LongConsumer listener) {
    onBulkWritten = listener;
  }

  /** What is to be written next; null for nothing, or while the socket takes nothing. */
  private @Nullable DeliveryRing next() {
    return sink.isWritable() ? backlog.next(deliverable() > 0) : null;
  }

  private void wakeWaiters() {
    if (full && ring.bytes() <= backlog.bound() / 2) {
      full = false;
      pace.noLongerFull();
      waiters.wake();
    }
    Runnable session = waitingSession;
    if (session != null && !hasTooManyAnswers(MAX_CONTROL_BYTES / 2)) {
      waitingSession = null;
      pace.answersTaken();
      session.run();
    }
  }

  /** Closes a client that is too slow, and gives back room that is not used. */
  public void onTick(long nowNanos) {
    String tooSlow = pace.check(nowNanos);
    if (tooSlow != null) {
      tooSlow(tooSlow);
    }
    if (holdBudget != null && holdBudget.isUsedUp(nowNanos) && mayBlock) {
      holdNoLonger();
    }
    if (full && quotas != null) {
      // Others may have read what left no room for this one.
      rebound();
      wakeWaiters();
    }
    idleTicks = (idleTicks << 1) | (queued == 0 ? 1 : 0);
    starving = Integer.bitCount(idleTicks) >= STARVING_TICKS;
    if (!usedSinceTick) {
      backlog.trim();
      account(backlog.gapCount());
    }
    usedSinceTick = false;
  }

  private void holdNoLonger() {
    mayBlock = false;
    heldTooLong.accept(
        "the connections of this client have held publishers back from other subscribers for "
            + ValueType.time(loop.timeouts().blockStallTime())
            + " within a minute (limits.block-stall-time); from now on its subscriptions have the"
            + " policy DROP_OLDEST instead of BLOCK: read faster, or choose another overflow"
            + " policy");
    if (full) {
      full = false;
      pace.noLongerFull();
      waiters.wake();
    }
  }

  private void tooSlow(String why) {
    slow.accept("too slow: " + why + "; read faster, or choose another overflow policy");
  }

  /** Frees everything; what was queued is lost, and counted. */
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    leaveHoldBudget();
    backlog.clear(events -> context.stats().drops(DropReason.DISCONNECTED).add(events));
    account(0);
    queued = 0;
    full = false;
    waiters.wake();
  }

  public boolean isEmpty() {
    return backlog.isEmpty();
  }

  /** Whether nothing waits that comes before held deliveries; without credit, nothing at all. */
  public boolean hasAnswered() {
    return credit.isLimited() ? backlog.answerBytes() == 0 : backlog.isEmpty();
  }
}
