package io.eventbus.server.call;

import io.eventbus.schema.CallPriority;
import io.eventbus.schema.FailureCode;
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
final class CallDispatcher {
  /** Calls of closed callers that are removed from queues in one go. */
  private static final int MAX_GONE = 16;

  /** Wait of a peer's call before it is sent back, once, for another choice. */
  static final long SEND_BACK_NANOS = 50_000_000;

  /** Queues that take turns: calls for one member, calls for any, and calls of peers. */
  private static final int KINDS = 3;

  private final LoopCalls calls;
  private final PinnedMembers pinnedMembers = new PinnedMembers();
  private final MemberSelector selector;
  private final CallAdmission admission;
  private final AtomicLong queuedBytes;
  // Calls that wait for one member only. A member is in it from its first such call to its end.
  private final IdentityHashMap<ServiceMember, ServiceQueue> pinned = new IdentityHashMap<>();
  // Queues that are checked because nobody serves, and queues that are emptied.
  private final IdentityHashMap<ServiceQueue, Walk> walks = new IdentityHashMap<>(4);
  private final Set<ServiceQueue> emptying = Collections.newSetFromMap(new IdentityHashMap<>(4));
  // Next loop, and next kind of its calls, where calls for any member, calls for this member only
  // and calls of peers wait.
  private int loopTurn;
  private int queueTurn;

  CallDispatcher(
      LoopCalls calls, MemberSelector selector, CallAdmission admission, AtomicLong queuedBytes) {
    this.calls = calls;
    this.selector = selector;
    this.admission = admission;
    this.queuedBytes = queuedBytes;
  }

  /** Dispatches a new call. */
  void begin(Call call, long nowNanos) {
    LoopService to = call.service();
    if (call.pinned() != 0) {
      beginPinned(call, to, nowNanos);
      return;
    }
    boolean local = call.isLocalOnly();
    ServiceQueue queue = queue(call, to);
    ServiceMember member = queue.isEmpty() ? selector.take(to, call, local, nowNanos) : null;
    if (member != null) {
      dispatch(call, member, nowNanos);
    } else if (call.isFromBus()) {
      // Bounded by the grant that their bus was given.
      enqueue(call, to, false, nowNanos);
    } else if (admitted(call, queue, null, nowNanos)) {
      enqueue(call, to, false, nowNanos);
    }
  }

  private static ServiceQueue queue(Call call, LoopService to) {
    return call.isLocalOnly() ? to.localQueue : to.queue;
  }

  private void beginPinned(Call call, LoopService to, long nowNanos) {
    ServiceMember member = pinnedMembers.member(call, to);
    if (member == null) {
      calls
          .completion()
          .fail(call, FailureCode.NO_MEMBER, 0, FailureMessages.NOT_THIS_MEMBER, nowNanos);
      return;
    }
    ServiceQueue queue = pinnedQueue(member);
    if (queue.isEmpty() && member.window().tryAcquire()) {
      dispatch(call, member, nowNanos);
    } else if (admitted(call, queue, member, nowNanos)) {
      enqueuePinned(call, member, queue, false, nowNanos);
    }
  }

  private ServiceQueue pinnedQueue(ServiceMember member) {
    ServiceQueue queue = pinned.get(member);
    if (queue == null) {
      queue = new ServiceQueue(member.waiting(), calls.number());
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
      Call call, ServiceQueue queue, @Nullable ServiceMember only, long nowNanos) {
    long retryAfter = admission.check(call, queue, only, nowNanos);
    if (retryAfter == CallAdmission.ADMITTED) {
      return true;
    }
    FairnessGroup group = call.group();
    CallPriority priority = call.priority();
    shed(call, retryAfter, admission.reason(), nowNanos);
    shedOldest(queue, only, group, priority, nowNanos);
    return false;
  }

  /**
   * Sheds the oldest call of those that a refused call would wait with. Each other group is
   * affected once per {@code services.max-wait}: so nobody can shed the calls of others by having
   * many refused.
   */
  private void shedOldest(
      ServiceQueue queue,
      @Nullable ServiceMember only,
      FairnessGroup group,
      CallPriority priority,
      long nowNanos) {
    long max = calls.settings().maxWaitNanos();
    Call first = queue.nextToShed(group, priority, max, nowNanos);
    if (first == null) {
      return;
    }
    boolean own = first.group() == group;
    if (admission.isOverdue(first, only, own, nowNanos)) {
      if (!own) {
        queue.pass(first, nowNanos);
      }
      shed(first, admission.retryAfterMillis(first), admission.tooLong(), nowNanos);
    }
  }

  private void shed(Call call, long retryAfter, String reason, long nowNanos) {
    call.stats().shed(call.priority()).add(1);
    calls.completion().fail(call, FailureCode.OVERLOADED, retryAfter, reason, nowNanos);
  }

  /** Dispatches a call again that a member has not executed. */
  void redispatch(Call call, long nowNanos) {
    LoopService to = calls.services().current(call.service(), nowNanos);
    call.service = to;
    if (call.pinned() != 0) {
      againPinned(call, to, nowNanos);
      return;
    }
    ServiceMember member = selector.take(to, call, call.isLocalOnly(), nowNanos);
    if (member != null) {
      dispatch(call, member, nowNanos);
    } else if (call.isServed() || call.waitNanos() > 0) {
      call.memberDeadlineNanos = nowNanos + call.waitNanos();
      if (!call.isServed()) {
        call.chargeService();
      }
      enqueue(call, to, true, nowNanos);
    } else {
      calls.completion().fail(call, FailureCode.NO_MEMBER, 0, FailureMessages.NO_MEMBER, nowNanos);
      calls.services().forgetIdle(to);
    }
  }

  private void againPinned(Call call, LoopService to, long nowNanos) {
    ServiceMember member = pinnedMembers.member(call, to);
    if (member == null) {
      calls
          .completion()
          .fail(call, FailureCode.NO_MEMBER, 0, FailureMessages.NOT_THIS_MEMBER, nowNanos);
    } else if (member.window().tryAcquire()) {
      dispatch(call, member, nowNanos);
    } else {
      enqueuePinned(call, member, pinnedQueue(member), true, nowNanos);
    }
  }

  private void dispatch(Call call, ServiceMember member, long nowNanos) {
    if (call.number == 0) {
      call.stats().queueTime.record(nowNanos - call.begunNanos());
    }
    call.become(CallState.DISPATCHED);
    call.member = member;
    call.number = calls.nextNumber();
    if (member.loop() == calls.number()) {
      member.client().invoke(call, nowNanos);
    } else {
      calls.startNote(member.loop(), CallNote.Kind.INVOKE).call = call;
      call.client().end().chargeWork(CallHandOver.nanos(call.bytes()));
    }
  }

  private void enqueue(Call call, LoopService to, boolean first, long nowNanos) {
    boolean local = call.isLocalOnly();
    ServiceQueue queue = queue(call, to);
    wait(call, queue, to.service, first);
    if (call.returnsToPeer()) {
      call.memberDeadlineNanos = nowNanos + SEND_BACK_NANOS;
    }
    if (call.returnsToPeer() || !call.isServed()) {
      calls.deadlines().arm(call, earlier(call), nowNanos);
    }
    if (queue.size() == 1) {
      // A place may have been released before others could know that this loop waits.
      ServiceMember member = selector.take(to, null, local, nowNanos);
      if (member != null) {
        granted(member, nowNanos);
      }
    }
    if (!local) {
      to.announceDemand(nowNanos);
    }
  }

  private static long earlier(Call call) {
    return call.memberDeadlineNanos - call.deadlineNanos() < 0
        ? call.memberDeadlineNanos
        : call.deadlineNanos();
  }

  private void enqueuePinned(
      Call call, ServiceMember member, ServiceQueue queue, boolean first, long nowNanos) {
    wait(call, queue, member.service(), first);
    if (!member.serves()) {
      // The member may not have known of this queue when it notified the loops.
      memberGone(member, queue);
    } else if (queue.size() == 1 && member.window().tryAcquire()) {
      granted(member, nowNanos);
    }
  }

  private void wait(Call call, ServiceQueue queue, LocalService service, boolean first) {
    call.become(CallState.QUEUED);
    queue.add(call, first);
    service.queued().incrementAndGet();
    queuedBytes.addAndGet(call.bytes());
    call.group().queuedBytes += call.bytes();
    call.stats().queued.add(1);
  }

  /** Ends the wait of a call. */
  private void endWait(Call call) {
    call.service().service.queued().decrementAndGet();
    queuedBytes.addAndGet(-call.bytes());
    call.group().queuedBytes -= call.bytes();
    call.stats().queued.add(-1);
  }

  /** Removes an ending call from its queue. */
  void leave(Call call) {
    ServiceQueue queue = call.queue;
    if (queue != null) {
      queue.remove(call);
      endWait(call);
    }
  }

  /** Called when a member of a peer has answered a call of this loop. */
  void answered(long member, ServiceMember bus) {
    pinnedMembers.answered(member, bus);
  }

  /** Dispatches the next call to a member of which a place was acquired for this loop. */
  void granted(ServiceMember member, long nowNanos) {
    for (int i = 0; i < MAX_GONE; i++) {
      Call call = next(member, nowNanos);
      if (call == null) {
        release(member);
        return;
      }
      LoopService service = call.service();
      endWait(call);
      if (!call.client().isClosed()) {
        dispatch(call, member, nowNanos);
        // The member may have been the last one, and takes no further call.
        calls.services().forgetIdle(service);
        return;
      }
      calls.completion().cancel(call, FailureMessages.CALLER_GONE, nowNanos);
    }
    // The place stays acquired until then.
    calls
        .slices()
        .add(
            now -> {
              granted(member, now);
              return false;
            });
  }

  private @Nullable Call next(ServiceMember member, long nowNanos) {
    LoopService known = calls.services().known(member.service());
    ServiceQueue own = pinned.get(member);
    Call call = null;
    for (int i = 0; call == null && i < KINDS; i++) {
      queueTurn = (queueTurn + 1) % KINDS;
      call =
          switch (queueTurn) {
            case 0 -> poll(own, nowNanos);
            case 1 -> poll(known == null ? null : known.queue, nowNanos);
            default -> poll(known == null || member.isPeer() ? null : known.localQueue, nowNanos);
          };
    }
    return call;
  }

  private static @Nullable Call poll(@Nullable ServiceQueue queue, long nowNanos) {
    return queue == null ? null : queue.poll(nowNanos);
  }

  /** Releases a place of the member. */
  void release(ServiceMember member) {
    member.window().release();
    offer(member);
  }

  /** Offers the member's free places, if any, to waiting calls. */
  void offer(ServiceMember member) {
    while (anyWaits(member) && member.window().tryAcquire()) {
      int loop = -1;
      for (int i = 0; loop < 0 && i < KINDS; i++) {
        loopTurn = (loopTurn + 1) % KINDS;
        loop =
            switch (loopTurn) {
              case 0 -> member.waiting().next();
              case 1 -> member.service().waiting().next();
              default -> member.isPeer() ? -1 : member.service().localWaiting().next();
            };
      }
      if (loop < 0) {
        member.window().release();
      } else if (loop == calls.number()) {
        granted(member, calls.now());
      } else {
        calls.startNote(loop, CallNote.Kind.PLACE).member = member;
      }
    }
  }

  private static boolean anyWaits(ServiceMember member) {
    return member.waiting().any()
        || member.service().waiting().any()
        || (!member.isPeer() && member.service().localWaiting().any());
  }

  /**
   * Fails the calls of a service without members, or without local ones, that do not wait for a new
   * member.
   */
  void unserved(LocalService service) {
    LoopService known = calls.services().known(service);
    if (known == null) {
      return;
    }
    if (!service.isServedHere()) {
      unserved(known, known.localQueue);
    }
    if (service.isServed()) {
      return;
    }
    unserved(known, known.queue);
    calls.services().forgetIdle(known);
  }

  /** Checks all waiting calls of a queue, now or in later turns; once more if that is under way. */
  private void unserved(LoopService known, ServiceQueue queue) {
    Walk walk = walks.get(queue);
    if (walk != null) {
      walk.again = true;
    } else if (!queue.isEmpty()) {
      walk = new Walk(known, queue);
      walks.put(queue, walk);
      calls.slices().add(walk);
    }
  }

  /** Fails the calls in a queue that have lost their members and may not wait for others. */
  private final class Walk implements Slices.Work {
    /** Calls in one step: for most of them there is little to do. */
    private static final int CALLS = 8;

    private final LoopService known;
    private final ServiceQueue queue;
    private List<Call> waiting;
    private int next;
    private boolean again;

    Walk(LoopService known, ServiceQueue queue) {
      this.known = known;
      this.queue = queue;
      this.waiting = queue.calls();
    }

    @Override
    public boolean step(long nowNanos) {
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
      calls.services().forgetIdle(known);
      return false;
    }

    private void unserved(Call call, long nowNanos) {
      if (call.queue != queue || call.isServed()) {
        // Ended meanwhile, or to be served after all.
        return;
      }
      if (call.waitNanos() == 0) {
        calls
            .completion()
            .fail(call, FailureCode.NO_MEMBER, 0, FailureMessages.NO_MEMBER, nowNanos);
      } else {
        call.memberDeadlineNanos = nowNanos + call.waitNanos();
        call.chargeService();
        calls.deadlines().arm(call, earlier(call), nowNanos);
      }
    }
  }

  /** Fails the calls that wait for a member only that takes no more calls. */
  void memberGone(ServiceMember member) {
    ServiceQueue queue = pinned.get(member);
    if (queue != null && !member.serves()) {
      memberGone(member, queue);
    }
  }

  private void memberGone(ServiceMember member, ServiceQueue queue) {
    if (!emptying.add(queue)) {
      return;
    }
    calls
        .slices()
        .add(
            now -> {
              Call call = member.serves() ? null : queue.poll(now);
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

  private void goneFrom(ServiceMember member, Call call, long nowNanos) {
    endWait(call);
    if (member.isPeer() && !call.client().isClosed()) {
      // The member may be at yet another bus.
      call.become(CallState.READY);
      redispatch(call, nowNanos);
    } else {
      calls
          .completion()
          .fail(call, FailureCode.NO_MEMBER, 0, FailureMessages.NOT_THIS_MEMBER, nowNanos);
    }
  }
}
