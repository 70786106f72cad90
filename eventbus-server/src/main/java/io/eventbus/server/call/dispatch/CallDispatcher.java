package io.eventbus.server.call.dispatch;

import io.eventbus.schema.CallPriority;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Matches the calls of one loop with free places in members' windows: a call without a place waits,
 * and a released place goes to the next waiting call of this loop or another. Confined to the loop.
 *
 * <p>It is one class because released places decide what waits, and the other way round.
 */
public final class CallDispatcher {
  /** Calls of closed callers that are removed from queues in one go. */
  private static final int MAX_GONE = 16;

  /** Wait of a peer's call before it is sent back, once, for another choice. */
  static final long SEND_BACK_NANOS = 50_000_000;

  /** Queues that take turns: calls for one member, calls for any, and calls of peers. */
  private static final int KINDS = 3;

  private final DispatchLoop loop;
  private final WaitLimits limits;
  private final PinnedMembers pinnedMembers = new PinnedMembers();
  private final MemberSelector selector;
  private final CallAdmission admission;
  private final AtomicLong queuedBytes;
  // Calls that wait for one member only. A member is in it from its first such call to its end.
  private final IdentityHashMap<CandidateMember, ServiceQueue> pinned = new IdentityHashMap<>();
  // Queues that are checked because their members have gone, and queues that are emptied.
  private final IdentityHashMap<ServiceQueue, Walk> walks = new IdentityHashMap<>(4);
  private final Set<ServiceQueue> emptying = Collections.newSetFromMap(new IdentityHashMap<>(4));
  // Loop whose waiting calls have the next place.
  private int loopTurn;
  // Kind of waiting calls that has the next place: for any member, for this member only, of peers.
  private int queueTurn;

  /**
   * Creates the dispatcher of a loop without calls.
   *
   * @param queuedBytes waiting bytes of all loops
   * @param seed seed of the choice of members
   */
  public CallDispatcher(DispatchLoop loop, WaitLimits limits, AtomicLong queuedBytes, long seed) {
    this.loop = loop;
    this.limits = limits;
    this.selector = new MemberSelector(seed, loop.number());
    this.admission = new CallAdmission(limits, queuedBytes);
    this.queuedBytes = queuedBytes;
  }

  /** Dispatches a new call. */
  public void begin(QueuedCall call, long nowNanos) {
    QueuedService to = call.service();
    if (call.pinned() != 0) {
      beginPinned(call, to, nowNanos);
      return;
    }
    boolean local = call.isLocalOnly();
    ServiceQueue queue = queue(call, to);
    CandidateMember member = queue.isEmpty() ? selector.take(to, call, local, nowNanos) : null;
    if (member != null) {
      call.dispatchTo(member, nowNanos);
    } else if (call.isFromPeer()) {
      // Bounded by the grant that their bus was given.
      enqueue(call, to, false, nowNanos);
    } else if (admitted(call, queue, null, nowNanos)) {
      enqueue(call, to, false, nowNanos);
    }
  }

  private static ServiceQueue queue(QueuedCall call, QueuedService to) {
    return call.isLocalOnly() ? to.localQueue() : to.queue();
  }

  private void beginPinned(QueuedCall call, QueuedService to, long nowNanos) {
    CandidateMember member = pinnedMembers.member(call, to);
    if (member == null) {
      call.failUnserved(nowNanos);
      return;
    }
    ServiceQueue queue = pinnedQueue(member);
    if (queue.isEmpty() && member.window().tryAcquire()) {
      call.dispatchTo(member, nowNanos);
    } else if (admitted(call, queue, member, nowNanos)) {
      enqueuePinned(call, member, queue, false, nowNanos);
    }
  }

  private ServiceQueue pinnedQueue(CandidateMember member) {
    ServiceQueue queue = pinned.get(member);
    if (queue == null) {
      queue = new ServiceQueue(member.waiting(), loop.number());
      pinned.put(member, queue);
      member.pinned();
      if (member.isGone()) {
        // The member may not know of this queue.
        pinned.remove(member);
      }
    }
    return queue;
  }

  private boolean admitted(
      QueuedCall call, ServiceQueue queue, @Nullable CandidateMember only, long nowNanos) {
    long retryAfter = admission.check(call, queue, only, nowNanos);
    if (retryAfter == CallAdmission.ADMITTED) {
      return true;
    }
    FairnessGroup group = call.group();
    CallPriority priority = call.priority();
    call.failOverloaded(retryAfter, admission.reason(), nowNanos);
    shedOldest(queue, only, group, priority, nowNanos);
    return false;
  }

  /**
   * Sheds the oldest call of those that a refused call would wait with. Each other group is
   * affected once per {@code services.max-wait}: so no client can shed the calls of others by
   * having many refused.
   */
  private void shedOldest(
      ServiceQueue queue,
      @Nullable CandidateMember only,
      FairnessGroup group,
      CallPriority priority,
      long nowNanos) {
    long max = limits.maxWaitNanos();
    QueuedCall first = queue.nextToShed(group, priority, max, nowNanos);
    if (first == null) {
      return;
    }
    boolean own = first.group() == group;
    if (admission.isOverdue(first, only, own, nowNanos)) {
      if (!own) {
        queue.pass(first, nowNanos);
      }
      first.failOverloaded(admission.retryAfterMillis(first), admission.tooLong(), nowNanos);
    }
  }

  /** Dispatches a call again that a member has not executed. */
  public void redispatch(QueuedCall call, long nowNanos) {
    QueuedService to = call.currentService(nowNanos);
    if (call.pinned() != 0) {
      againPinned(call, to, nowNanos);
      return;
    }
    CandidateMember member = selector.take(to, call, call.isLocalOnly(), nowNanos);
    if (member != null) {
      call.dispatchTo(member, nowNanos);
    } else if (call.isServed() || call.waitNanos() > 0) {
      call.memberDeadline(nowNanos + call.waitNanos());
      if (!call.isServed()) {
        call.chargeService();
      }
      enqueue(call, to, true, nowNanos);
    } else {
      call.failUnserved(nowNanos);
      to.forgetIfIdle();
    }
  }

  private void againPinned(QueuedCall call, QueuedService to, long nowNanos) {
    CandidateMember member = pinnedMembers.member(call, to);
    if (member == null) {
      call.failUnserved(nowNanos);
    } else if (member.window().tryAcquire()) {
      call.dispatchTo(member, nowNanos);
    } else {
      enqueuePinned(call, member, pinnedQueue(member), true, nowNanos);
    }
  }

  private void enqueue(QueuedCall call, QueuedService to, boolean first, long nowNanos) {
    boolean local = call.isLocalOnly();
    ServiceQueue queue = queue(call, to);
    wait(call, queue, to.service(), first);
    if (call.returnsToPeer()) {
      call.memberDeadline(nowNanos + SEND_BACK_NANOS);
    }
    if (call.returnsToPeer() || !call.isServed()) {
      call.armDeadline(nowNanos);
    }
    if (queue.size() == 1) {
      // A place may have been released before others could know that this loop waits.
      CandidateMember member = selector.take(to, null, local, nowNanos);
      if (member != null) {
        granted(member, nowNanos);
      }
    }
    if (!local) {
      to.announceDemand(nowNanos);
    }
  }

  private void enqueuePinned(
      QueuedCall call, CandidateMember member, ServiceQueue queue, boolean first, long nowNanos) {
    wait(call, queue, member.service(), first);
    if (!member.serves()) {
      // The member may not have known of this queue when it notified the loops.
      memberGone(member, queue);
    } else if (queue.size() == 1 && member.window().tryAcquire()) {
      granted(member, nowNanos);
    }
  }

  private void wait(QueuedCall call, ServiceQueue queue, CandidateService service, boolean first) {
    call.waits();
    queue.add(call, first);
    service.queued().incrementAndGet();
    queuedBytes.addAndGet(call.bytes());
    call.group().queuedBytes += call.bytes();
  }

  /** Ends the wait of a call. */
  private void endWait(QueuedCall call) {
    call.service().service().queued().decrementAndGet();
    queuedBytes.addAndGet(-call.bytes());
    call.group().queuedBytes -= call.bytes();
    call.waitsNoLonger();
  }

  /** Removes an ending call from its queue. */
  public void leave(QueuedCall call) {
    ServiceQueue queue = call.queuePlace().queue;
    if (queue != null) {
      queue.remove(call);
      endWait(call);
    }
  }

  /** Called when a member of a peer has answered a call of this loop. */
  public void answered(long member, CandidateMember bus) {
    pinnedMembers.answered(member, bus);
  }

  /** Dispatches the next call to a member of which a place was acquired for this loop. */
  public void granted(CandidateMember member, long nowNanos) {
    for (int i = 0; i < MAX_GONE; i++) {
      QueuedCall call = next(member, nowNanos);
      if (call == null) {
        release(member);
        return;
      }
      QueuedService service = call.service();
      endWait(call);
      if (!call.isAbandoned()) {
        call.dispatchTo(member, nowNanos);
        // The member may have been the last one, and takes no further call.
        service.forgetIfIdle();
        return;
      }
      call.cancelAbandoned(nowNanos);
    }
    // The place stays acquired until then.
    loop.inSlices(
        now -> {
          granted(member, now);
          return false;
        });
  }

  private @Nullable QueuedCall next(CandidateMember member, long nowNanos) {
    QueuedService known = loop.known(member.service());
    ServiceQueue own = pinned.get(member);
    QueuedCall call = null;
    for (int i = 0; call == null && i < KINDS; i++) {
      queueTurn = (queueTurn + 1) % KINDS;
      call =
          switch (queueTurn) {
            case 0 -> poll(own, nowNanos);
            case 1 -> poll(known == null ? null : known.queue(), nowNanos);
            default -> poll(known == null || member.isPeer() ? null : known.localQueue(), nowNanos);
          };
    }
    return call;
  }

  private static @Nullable QueuedCall poll(@Nullable ServiceQueue queue, long nowNanos) {
    return queue == null ? null : queue.poll(nowNanos);
  }

  /** Releases a place of the member. */
  public void release(CandidateMember member) {
    member.window().release();
    offer(member);
  }

  /** Offers the member's free places, if any, to waiting calls. */
  public void offer(CandidateMember member) {
    while (anyWaits(member) && member.window().tryAcquire()) {
      int to = -1;
      for (int i = 0; to < 0 && i < KINDS; i++) {
        loopTurn = (loopTurn + 1) % KINDS;
        to =
            switch (loopTurn) {
              case 0 -> member.waiting().next();
              case 1 -> member.service().waiting().next();
              default -> member.isPeer() ? -1 : member.service().localWaiting().next();
            };
      }
      if (to < 0) {
        member.window().release();
      } else if (to == loop.number()) {
        granted(member, loop.now());
      } else {
        loop.grant(to, member);
      }
    }
  }

  private static boolean anyWaits(CandidateMember member) {
    return member.waiting().any()
        || member.service().waiting().any()
        || (!member.isPeer() && member.service().localWaiting().any());
  }

  /**
   * Fails the calls of a service without members, or without local ones, that do not wait for a new
   * member.
   */
  public void unserved(QueuedService known) {
    if (!known.service().isServed(true)) {
      unserved(known, known.localQueue());
    }
    if (known.service().isServed(false)) {
      return;
    }
    unserved(known, known.queue());
    known.forgetIfIdle();
  }

  /** Checks all waiting calls of a queue, now or in later turns; once more if that is under way. */
  private void unserved(QueuedService known, ServiceQueue queue) {
    Walk walk = walks.get(queue);
    if (walk != null) {
      walk.again = true;
    } else if (!queue.isEmpty()) {
      walk = new Walk(known, queue);
      walks.put(queue, walk);
      loop.inSlices(walk::step);
    }
  }

  /** Fails the calls in a queue that have lost their members and may not wait for others. */
  private final class Walk {
    /** Calls in one step: for most of them there is little to do. */
    private static final int CALLS = 8;

    private final QueuedService known;
    private final ServiceQueue queue;
    private List<QueuedCall> waiting;
    private int next;
    private boolean again;

    Walk(QueuedService known, ServiceQueue queue) {
      this.known = known;
      this.queue = queue;
      this.waiting = queue.calls();
    }

    boolean step(long nowNanos) {
      for (int i = 0; i < CALLS && next < waiting.size(); i++) {
        unserved(waiting.get(next++), nowNanos);
      }
      if (next == waiting.size() && again) {
        again = false;
        next = 0;
        waiting = queue.calls();
      }
      if (next < waiting.size()) {
        return true;
      }
      walks.remove(queue);
      known.forgetIfIdle();
      return false;
    }

    private void unserved(QueuedCall call, long nowNanos) {
      if (call.queuePlace().queue != queue || call.isServed()) {
        // Ended meanwhile, or to be served after all.
        return;
      }
      if (call.waitNanos() == 0) {
        call.failUnserved(nowNanos);
      } else {
        call.memberDeadline(nowNanos + call.waitNanos());
        call.chargeService();
        call.armDeadline(nowNanos);
      }
    }
  }

  /** Fails the calls that wait for a member only that takes no more calls. */
  public void memberGone(CandidateMember member) {
    ServiceQueue queue = pinned.get(member);
    if (queue != null && !member.serves()) {
      memberGone(member, queue);
    }
  }

  private void memberGone(CandidateMember member, ServiceQueue queue) {
    if (!emptying.add(queue)) {
      return;
    }
    loop.inSlices(
        now -> {
          QueuedCall call = member.serves() ? null : queue.poll(now);
          if (call != null) {
            goneFrom(member, call, now);
            return true;
          }
          emptying.remove(queue);
          if (!member.serves()) {
            pinned.remove(member, queue);
          }
          return false;
        });
  }

  private void goneFrom(CandidateMember member, QueuedCall call, long nowNanos) {
    endWait(call);
    if (member.isPeer() && !call.isAbandoned()) {
      // The member may be at yet another bus.
      call.ready();
      redispatch(call, nowNanos);
    } else {
      call.failUnserved(nowNanos);
    }
  }
}
