package io.eventbus.server.queue;

import io.eventbus.base.RefusedMemory;
import io.eventbus.schema.Overflow;
import io.eventbus.server.config.ValueType;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.memory.WakeupList;
import io.eventbus.server.quota.ConnectionQuota;
import io.eventbus.server.stats.DropReason;
import io.eventbus.server.stats.SingleWriterCounter;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Queue of frames for one client, bounded in bytes, with the four policies for a full queue.
 *
 * <p>Small frames that are next to each other are copied together into one message when they are
 * written; large ones, and a single one, are written by reference. Confined to the connection's
 * loop but for {@link #isFull}, {@link #isCrowded}, {@link #whenNotFull} and {@link #bytes}.
 *
 * <p>Under BLOCK the queue may pass its bound by what was already on its way: {@link #isFull} stops
 * the publishers from then on, until it is half empty. The client is told of dropped events with
 * {@code Gap}, before the next event of the same topic and producer.
 *
 * <p>Each queued event counts once in {@link #delivered}, and is written or counts in {@link
 * #dropped}, never both: these two are never more than the first, and as many when nothing waits.
 *
 * <p>It is one class because the policies share its state: the bound, the callbacks that wait for
 * room, the pace of the client.
 */
public final class OutboundQueue implements Outbound {
  /** Answers that wait for a client before no more of its requests are served. */
  private static final long MAX_CONTROL_BYTES = 256 * 1024;

  private static final int MAX_GAPS = 10_000;

  /** Size of a range that is to be told, with its topic. */
  private static final int GAP_BYTES = 512;

  /** Maximum size of a {@code Drained} while it waits. */
  private static final long DRAINED_BYTES = 160;

  /** Bytes of one connection that are deflated before others have their turn. */
  private static final int DEFLATED_IN_TURN = 64 * 1024;

  /** Duration of fullness that is not charged to the subscriber. */
  private static final long BRIEF_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /**
   * Number of the last 32 ticks, three seconds, that have to find the queue empty for it to be
   * starving.
   */
  private static final int STARVING_TICKS = 24;

  private final QueueContext context;
  private final MessageSink sink;
  private final long bound;
  private final Supplier<String> owner;
  private final Consumer<String> slow;
  private final Consumer<String> stalledTooLong;
  private final SlowConsumerDetector slowness;

  // From the first time that the queue is full; written before it is.
  private BlockBudgets.@Nullable Shared blockBudget;
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
  private long maxControlBytes = MAX_CONTROL_BYTES;
  private volatile boolean full;
  private volatile boolean starving;
  // Time when it became full; for the publishers that are stalled.
  private volatile long fullSince;
  private boolean mayBlock = true;
  private int idleTicks;
  private volatile long queued;
  private volatile long crowdedAbove;
  private boolean usedSinceTick;
  private boolean closed;
  private long heapBytes;
  private LongConsumer onBulkWritten = frames -> {};
  private long bulkTold;
  private Runnable onFeedWritten = () -> {};

  /**
   * Creates an empty queue.
   *
   * @param context what the queues of its loop share
   * @param owner supplies the owner of the block budget: the same for all clients of one identity,
   *     or of one address if they have no name
   * @param stalledTooLong tells the client that it may not stall publishers any longer
   */
  public OutboundQueue(
      QueueContext context,
      MessageSink sink,
      Supplier<String> owner,
      Consumer<String> slow,
      Consumer<String> stalledTooLong) {
    this.owner = owner;
    this.slow = slow;
    this.stalledTooLong = stalledTooLong;
    this.context = context;
    this.sink = sink;
    this.bound = context.limits().queueBytes();
    this.crowdedAbove = bound / 2;
    this.backlog = new Backlog(context, bound);
    this.ring = backlog.ring();
    this.writer = new QueueWriter(context, sink, credit);
    this.slowness = new SlowConsumerDetector(context.timeouts(), bound);
  }

  @Override
  public int loop() {
    return context.loop();
  }

  @Override
  public boolean isFull() {
    return full;
  }

  @Override
  public boolean isCrowded() {
    return full || queued > crowdedAbove;
  }

  @Override
  public boolean isStarving() {
    return starving;
  }

  /** Charges a stall. Brief fullness is normal under load: only long stalls are charged. */
  @Override
  public void chargeStall(long nanos) {
    if (full && System.nanoTime() - fullSince > BRIEF_NANOS && blockBudget != null) {
      blockBudget.charge(nanos);
    }
  }

  @Override
  public void whenNotFull(Runnable retry) {
    waiters.add(retry);
    if (!full) {
      waiters.wake();
    }
  }

  @Override
  public void share(@Nullable ConnectionQuota share) {
    quotas = share;
    if (share == null) {
      setBound(bound);
    } else {
      share.holds(queued);
    }
  }

  /**
   * Changes the bound: while all queues of the bus, or those of the same identity or account, hold
   * much, there is less room for this one.
   */
  private void rebound() {
    long own = quotas == null ? bound : quotas.queueBound(bound);
    setBound(context.memory().queueBound(own));
  }

  private void setBound(long bytes) {
    if (bytes != backlog.bound()) {
      backlog.bound(bytes);
      crowdedAbove = bytes / 2;
    }
  }

  @Override
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
        enqueue(delivery, overflow);
        return;
      }
      Delivery own = delivery.copy(backlog.own());
      try {
        enqueue(own, overflow);
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

  /**
   * Returns whether a delivery has to leave its slab: waiting for this client, it must not keep
   * memory that others have long read.
   */
  private boolean mustLeaveSlab(Delivery delivery) {
    return delivery.isInSlab() && !canDeliver();
  }

  /** Returns whether a delivery could be written now. */
  private boolean canDeliver() {
    return mayWrite() && deliverable() > 0;
  }

  /**
   * Returns whether the socket takes more: what it has not passed on is bounded as the queue is,
   * because it is the client's own copy of what others share.
   */
  private boolean mayWrite() {
    if (!sink.isWritable()) {
      return false;
    }
    long pending = sink.pendingBytes();
    return context.memory().queueBound(pending) == pending;
  }

  /**
   * Returns the bytes in which a further delivery may begin. The limit does not hold while the
   * client is not read, because its next credit could not come: two clients that wait for each
   * other's queues would never continue.
   */
  private long deliverable() {
    return inputWaits || waitingSession != null ? Long.MAX_VALUE : credit.left();
  }

  private void enqueue(Delivery delivery, Overflow policy) {
    rebound();
    Overflow overflow = policy == Overflow.BLOCK && !mayBlock ? Overflow.DROP_OLDEST : policy;
    context.stats().deliveries.add(delivery.events());
    delivered.add(delivery.events());
    if (overflow != Overflow.CONFLATE) {
      backlog.letConflatedGoFirst(delivery);
    }
    if (overflow != Overflow.BLOCK && !backlog.fits(delivery) && canDeliver()) {
      // The client keeps up; only the round has not ended yet. No policy is needed.
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
    // From the first waiting event, not when the queue is full: a reader that is behind by a
    // whole queue sees nothing new.
    if (!canDeliver() || backlog.needsConflation(delivery)) {
      Conflater.Dropped lost = backlog.addConflating(delivery);
      countDrop(DropReason.CONFLATED, lost.conflated());
      countDrop(DropReason.QUEUE_FULL, lost.overLimit());
    } else {
      backlog.add(delivery, Overflow.CONFLATE);
    }
  }

  /** Publishes the bytes held now, and counts those that are no delivery as memory. */
  private void account(int gaps) {
    long told = (long) GAP_BYTES * gaps;
    long now = told + backlog.heapBytes();
    long change = now - heapBytes;
    heapBytes = now;
    context.memory().change(change);
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

  /** Stalls publishers from now on; returns false if the client may not. */
  private boolean markFull() {
    if (!full) {
      long now = System.nanoTime();
      if (blockBudget(now).isUsedUp(now)) {
        stopBlocking();
        return false;
      }
      fullSince = now;
      full = true;
      slowness.full(now);
    }
    return true;
  }

  private BlockBudgets.Shared blockBudget(long now) {
    BlockBudgets.Shared budget = blockBudget;
    if (budget == null) {
      budget = context.budgets().acquire(owner.get(), now);
      blockBudget = budget;
    }
    return budget;
  }

  private void releaseBlockBudget() {
    BlockBudgets.Shared budget = blockBudget;
    if (budget != null) {
      long now = System.nanoTime();
      if (full) {
        // Otherwise connection after connection would stall publishers for a time that is not
        // seen.
        budget.charge(Math.min(now - fullSince, BRIEF_NANOS));
      }
      context.budgets().release(budget, now);
    }
  }

  private void countDrop(DropReason reason, int events) {
    context.stats().drops(reason).add(events);
    dropped.add(events);
  }

  @Override
  public long delivered() {
    return delivered.get();
  }

  @Override
  public long dropped() {
    return dropped.get();
  }

  @Override
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

  @Override
  public void send(byte[] frame) {
    send(DeliveryKind.CONTROL, frame);
  }

  @Override
  public void sendLast(byte[] frame) {
    send(DeliveryKind.MARKER, frame);
  }

  private void send(DeliveryKind kind, byte[] frame) {
    send(Delivery.of(context.allocator(), context.memory(), kind, frame, System.nanoTime()));
  }

  @Override
  public boolean hasRoomForCall(int frameBytes) {
    return backlog.overtakingBytes() + frameBytes <= bound;
  }

  @Override
  public long invokesWritten() {
    return backlog.invokesWritten();
  }

  @Override
  public boolean mustWait(Runnable retry) {
    if (!hasTooManyAnswers(0)) {
      return false;
    }
    waitingSession = retry;
    slowness.answersWait(System.nanoTime());
    if (credit.isLimited()) {
      sink.drainSoon();
    }
    return true;
  }

  /** Returns whether so many answers wait that there is no room for as many bytes more. */
  private boolean hasTooManyAnswers(long room) {
    return backlog.controlBytes() + room > maxControlBytes
        || backlog.answerBytes() + room > MAX_CONTROL_BYTES;
  }

  @Override
  public void grant(long limit) {
    if (credit.grant(limit)) {
      backlog.letAnswersOvertake();
      // Room for a Drained of each subscription: if they stopped the client's requests, its next
      // credit would not be read.
      maxControlBytes += DRAINED_BYTES * context.limits().subscriptions();
    }
    sink.drainSoon();
  }

  /** Notes whether the client is not read, because its input waits for room or memory. */
  public void inputWaits(boolean waits) {
    if (waits && !inputWaits && credit.isLimited()) {
      sink.drainSoon();
    }
    inputWaits = waits;
  }

  /**
   * Ends the limit of credit, because the client's frames are not decoded any more: it gets what is
   * queued.
   */
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
    long feedBytes = backlog.feedBytes();
    for (DeliveryRing next = next(); next != null; next = next()) {
      if (deflated > DEFLATED_IN_TURN) {
        // Other connections first: deflating takes milliseconds.
        sink.drainSoon();
        break;
      }
      long before = next.bytes();
      deflated += writer.writeNext(next, next == ring ? deliverable() : Long.MAX_VALUE, now);
      long bytes = before - next.bytes();
      backlog.wrote(next, bytes);
      if (next == ring) {
        slowness.wrote(bytes);
      }
      wrote = true;
    }
    account(backlog.gapCount());
    if (wrote) {
      sink.flush();
      if (!backlog.isEmpty() && canDeliver()) {
        sink.drainSoon();
      }
    }
    wakeWaiters();
    long bulk = backlog.bulkWritten();
    if (bulk != bulkTold) {
      bulkTold = bulk;
      onBulkWritten.accept(bulk);
    }
    if (backlog.feedBytes() < feedBytes) {
      onFeedWritten.run();
    }
  }

  @Override
  public long feedBytes() {
    return backlog.feedBytes();
  }

  @Override
  public void onFeedWritten(Runnable listener) {
    onFeedWritten = listener;
  }

  @Override
  public void onBulkWritten(LongConsumer listener) {
    onBulkWritten = listener;
  }

  /** Returns the queue to write from; null for nothing, or while the socket takes nothing. */
  private @Nullable DeliveryRing next() {
    return mayWrite() ? backlog.next(deliverable() > 0) : null;
  }

  private void wakeWaiters() {
    if (full && ring.bytes() <= backlog.bound() / 2) {
      full = false;
      slowness.noLongerFull();
      waiters.wake();
    }
    Runnable session = waitingSession;
    if (session != null && !hasTooManyAnswers(MAX_CONTROL_BYTES / 2)) {
      waitingSession = null;
      slowness.answersTaken();
      session.run();
    }
  }

  /** Closes a client that is too slow, and gives back room that is not used. */
  public void onTick(long nowNanos) {
    String tooSlow = slowness.check(nowNanos);
    if (tooSlow != null) {
      tooSlow(tooSlow);
    }
    if (blockBudget != null && blockBudget.isUsedUp(nowNanos) && mayBlock) {
      stopBlocking();
    }
    if (full) {
      // Others may have read what left no room for this one.
      rebound();
      wakeWaiters();
    }
    idleTicks = (idleTicks << 1) | (queued == 0 ? 1 : 0);
    starving = Integer.bitCount(idleTicks) >= STARVING_TICKS;
    if (!backlog.isEmpty() && mayWrite()) {
      // No callback comes for room that other clients made, or the network below Netty's mark.
      sink.drainSoon();
    }
    if (!usedSinceTick) {
      backlog.trim();
      account(backlog.gapCount());
    }
    usedSinceTick = false;
  }

  private void stopBlocking() {
    mayBlock = false;
    stalledTooLong.accept(
        "the connections of this client have stalled the publishers of other subscribers for "
            + ValueType.time(context.timeouts().blockStallTime())
            + " within a minute (limits.block-stall-time); from now on its subscriptions have the"
            + " policy DROP_OLDEST instead of BLOCK: read faster, or choose another overflow"
            + " policy");
    if (full) {
      full = false;
      slowness.noLongerFull();
      waiters.wake();
    }
  }

  private void tooSlow(String why) {
    slow.accept("too slow: " + why + "; read faster, or choose another overflow policy");
  }

  /** Releases everything; queued events are lost, and counted. */
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    releaseBlockBudget();
    backlog.clear(events -> context.stats().drops(DropReason.DISCONNECTED).add(events));
    account(0);
    queued = 0;
    full = false;
    waiters.wake();
  }

  public boolean isEmpty() {
    return backlog.isEmpty();
  }

  /**
   * Returns whether nothing waits that comes before held deliveries; without credit, nothing at
   * all.
   */
  public boolean hasAnswered() {
    return credit.isLimited() ? backlog.answerBytes() == 0 : backlog.isEmpty();
  }
}
