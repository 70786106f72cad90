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
 * Brings the calls of one loop and the free places in members' windows together: what finds no
 * place waits, and whoever frees a place gives it to the next call that waits, on this loop or
 * another. Confined to the loop.
 *
 * <p>It is one class because whatever frees a place decides what waits, and the other way round.
 */
final class CallDispatcher {
  /** Calls of callers that have gone that are taken out of queues in one go. */
  private static final int MAX_GONE = 16;

  /** How long a call of another bus waits before it goes back, once, for another choice. */
  static final long RETURN_NANOS = 50_000_000;

  /** Calls for one member, calls for any, and calls of other buses. */
  private static final int SORTS = 3;

  private final LoopCalls calls;
  private final PinnedMembers pins = new PinnedMembers();
  private final MemberSelector choice;
  private final CallAdmission admission;
  private final AtomicLong queuedBytes;
  // What waits for one member only. A member is in it from its first such call to its end.
  private final IdentityHashMap<ServiceMember, ServiceQueue> pinned = new IdentityHashMap<>();
  // Those that are looked at because nobody serves, and those that are emptied.
  private final IdentityHashMap<ServiceQueue, Walk> walks = new IdentityHashMap<>(4);
  private final Set<ServiceQueue> emptying = Collections.newSetFromMap(new IdentityHashMap<>(4));
  // Which loop, and which of its calls, is next where calls for any member, calls for this member
  // only and calls of other buses wait.
  private int loopTurn;
  private int queueTurn;

  CallDispatcher(
      LoopCalls calls, MemberSelector choice, CallAdmission admission, AtomicLong queuedBytes) {
    this.calls = calls;
    this.choice = choice;
    this.admission = admission;
    this.queuedBytes = queuedBytes;
  }

  /** A new call, which is ready. */
  void begin(Call call, long nowNanos) {
    LoopService to = call.service();
    if (call.pinned() != 0) {
      beginPinned(call, to, nowNanos);
      return;
    }
    boolean home = call.isHome();
    ServiceQueue queue = queue(call, to);
    ServiceMember member = queue.isEmpty() ? choice.take(to, call, home, nowNanos) : null;
    if (member != null) {
      give(call, member, nowNanos);
    } else if (call.isFromBus()) {
      // How many of these come is what their bus was told.
      enqueue(call, to, false, nowNanos);
    } else if (admitted(call, queue, null, nowNanos)) {
      enqueue(call, to, false, nowNanos);
    }
  }

  private static ServiceQueue queue(Call call, LoopService to) {
    return call.isHome() ? to.home : to.queue;
  }

  private void beginPinned(Call call, LoopService to, long nowNanos) {
    ServiceMember member = pins.member(call, to);
    if (member == null) {
      calls
          .endings()
          .fail(call, FailureCode.NO_MEMBER, 0, FailureMessages.NOT_THIS_MEMBER, nowNanos);
      return;
    }
    ServiceQueue queue = pinnedQueue(member);
    if (queue.isEmpty() && member.window().take()) {
      give(call, member, nowNanos);
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
        // It may not know of this queue.
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
    FairnessGroup share = call.share();
    CallPriority priority = call.priority();
    shed(call, retryAfter, admission.reason(), nowNanos);
    makeWay(queue, only, share, priority, nowNanos);
    return false;
  }

  /**
   * Sheds the call that has waited for longest, of those that a refused one would wait with. Of
   * other shares than that of the refused one, each makes way once in {@code services.max-wait}: so
   * nobody has the calls of others shed by having many refused.
   */
  private void makeWay(
      ServiceQueue queue,
      @Nullable ServiceMember only,
      FairnessGroup share,
      CallPriority priority,
      long nowNanos) {
    long most = calls.settings().maxWaitNanos();
    Call first = queue.makesWay(share, priority, most, nowNanos);
    if (first == null) {
      return;
    }
    boolean own = first.share() == share;
    if (admission.isOverdue(first, only, own, nowNanos)) {
      if (!own) {
        queue.pass(first, nowNanos);
      }
      shed(first, admission.retryAfterMillis(first), admission.tooLong(), nowNanos);
    }
  }

  private void shed(Call call, long retryAfter, String reason, long nowNanos) {
    call.stats().shed(call.priority()).add(1);
    calls.endings().fail(call, FailureCode.OVERLOADED, retryAfter, reason, nowNanos);
  }

  /** A call that a member has not done, which is ready. */
  void again(Call call, long nowNanos) {
    LoopService to = calls.services().current(call.service(), nowNanos);
    call.service = to;
    if (call.pinned() != 0) {
      againPinned(call, to, nowNanos);
      return;
    }
    ServiceMember member = choice.take(to, call, call.isHome(), nowNanos);
    if (member != null) {
      give(call, member, nowNanos);
    } else if (call.isServed() || call.waitNanos() > 0) {
      call.memberDeadlineNanos = nowNanos + call.waitNanos();
      if (!call.isServed()) {
        call.keepsService();
      }
      enqueue(call, to, true, nowNanos);
    } else {
      calls.endings().fail(call, FailureCode.NO_MEMBER, 0, FailureMessages.NO_MEMBER, nowNanos);
      calls.services().forgetIdle(to);
    }
  }

  private void againPinned(Call call, LoopService to, long nowNanos) {
    ServiceMember member = pins.member(call, to);
    if (member == null) {
      calls
          .endings()
          .fail(call, FailureCode.NO_MEMBER, 0, FailureMessages.NOT_THIS_MEMBER, nowNanos);
    } else if (member.window().take()) {
      give(call, member, nowNanos);
    } else {
      enqueuePinned(call, member, pinnedQueue(member), true, nowNanos);
    }
  }

  private void give(Call call, ServiceMember member, long nowNanos) {
    if (call.number == 0) {
      call.stats().queueTime.record(nowNanos - call.begunNanos());
    }
    call.become(CallState.DISPATCHED);
    call.member = member;
    call.number = calls.nextNumber();
    if (member.loop() == calls.number()) {
      member.client().invoke(call, nowNanos);
    } else {
      calls.tell(member.loop(), CallHandOverQueue.Kind.INVOKE).call = call;
      call.client().end().caused(CallHandOverQueue.nanos(call.bytes()));
    }
  }

  private void enqueue(Call call, LoopService to, boolean first, long nowNanos) {
    boolean home = call.isHome();
    ServiceQueue queue = queue(call, to);
    wait(call, queue, to.service, first);
    if (call.isReturnable()) {
      call.memberDeadlineNanos = nowNanos + RETURN_NANOS;
    }
    if (call.isReturnable() || !call.isServed()) {
      calls.deadlines().arm(call, earlier(call), nowNanos);
    }
    if (queue.size() == 1) {
      // A place may have become free before others could know that this loop waits.
      ServiceMember member = choice.take(to, null, home, nowNanos);
      if (member != null) {
        granted(member, nowNanos);
      }
    }
    if (!home) {
      to.want(nowNanos);
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
      // It may not have known of this queue when it told the loops.
      gone(member, queue);
    } else if (queue.size() == 1 && member.window().take()) {
      granted(member, nowNanos);
    }
  }

  private void wait(Call call, ServiceQueue queue, LocalService service, boolean first) {
    call.become(CallState.QUEUED);
    queue.add(call, first);
    service.queued().incrementAndGet();
    queuedBytes.addAndGet(call.bytes());
    call.share().queuedBytes += call.bytes();
    call.stats().queued.add(1);
  }

  /** A call that waited does not any more. */
  private void waited(Call call) {
    call.service().service.queued().decrementAndGet();
    queuedBytes.addAndGet(-call.bytes());
    call.share().queuedBytes -= call.bytes();
    call.stats().queued.add(-1);
  }

  /** Takes a call out of the queue that it waits in; it ends. */
  void leave(Call call) {
    ServiceQueue queue = call.queue;
    if (queue != null) {
      queue.remove(call);
      waited(call);
    }
  }

  /** A member of another bus has answered a call of this loop. */
  void answered(long member, ServiceMember bus) {
    pins.answered(member, bus);
  }

  /** A place of the member was taken for a call of this loop. */
  void granted(ServiceMember member, long nowNanos) {
    for (int i = 0; i < MAX_GONE; i++) {
      Call call = next(member, nowNanos);
      if (call == null) {
        release(member);
        return;
      }
      LoopService service = call.service();
      waited(call);
      if (!call.client().isClosed()) {
        give(call, member, nowNanos);
        // The member may have been the last one, and takes no calls any more but this.
        calls.services().forgetIdle(service);
        return;
      }
      calls.endings().cancel(call, FailureMessages.CALLER_GONE, nowNanos);
    }
    // The place stays taken until then.
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
    for (int i = 0; call == null && i < SORTS; i++) {
      queueTurn = (queueTurn + 1) % SORTS;
      call =
          switch (queueTurn) {
            case 0 -> poll(own, nowNanos);
            case 1 -> poll(known == null ? null : known.queue, nowNanos);
            default -> poll(known == null || member.isFar() ? null : known.home, nowNanos);
          };
    }
    return call;
  }

  private static @Nullable Call poll(@Nullable ServiceQueue queue, long nowNanos) {
    return queue == null ? null : queue.poll(nowNanos);
  }

  /** A place of the member is free again. */
  void release(ServiceMember member) {
    member.window().giveBack();
    offer(member);
  }

  /** The member may have free places: they go to calls that wait. */
  void offer(ServiceMember member) {
    while (anyWaits(member) && member.window().take()) {
      int loop = -1;
      for (int i = 0; loop < 0 && i < SORTS; i++) {
        loopTurn = (loopTurn + 1) % SORTS;
        loop =
            switch (loopTurn) {
              case 0 -> member.waiting().next();
              case 1 -> member.service().waiting().next();
              default -> member.isFar() ? -1 : member.service().homeWaiting().next();
            };
      }
      if (loop < 0) {
        member.window().giveBack();
      } else if (loop == calls.number()) {
        granted(member, calls.now());
      } else {
        calls.tell(loop, CallHandOverQueue.Kind.PLACE).member = member;
      }
    }
  }

  private static boolean anyWaits(ServiceMember member) {
    return member.waiting().any()
        || member.service().waiting().any()
        || (!member.isFar() && member.service().homeWaiting().any());
  }

  /**
   * Nobody serves a service any more, or nobody here: what does not wait for that to change fails.
   */
  void unserved(LocalService service) {
    LoopService known = calls.services().known(service);
    if (known == null) {
      return;
    }
    if (!service.isServedHere()) {
      unserved(known, known.home);
    }
    if (service.isServed()) {
      return;
    }
    unserved(known, known.queue);
    calls.services().forgetIdle(known);
  }

  /** Looks at all calls that wait there, now or in later turns; once more if it does so already. */
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

  /** Ends what waits for members that are not there any more, and may not wait for others. */
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
        calls.endings().fail(call, FailureCode.NO_MEMBER, 0, FailureMessages.NO_MEMBER, nowNanos);
      } else {
        call.memberDeadlineNanos = nowNanos + call.waitNanos();
        call.keepsService();
        calls.deadlines().arm(call, earlier(call), nowNanos);
      }
    }
  }

  /** A member takes no calls any more: what waits for it only fails. */
  void gone(ServiceMember member) {
    ServiceQueue queue = pinned.get(member);
    if (queue != null && !member.serves()) {
      gone(member, queue);
    }
  }

  private void gone(ServiceMember member, ServiceQueue queue) {
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
    waited(call);
    if (member.isFar() && !call.client().isClosed()) {
      // The member that it is for may be at yet another bus.
      call.become(CallState.READY);
      again(call, nowNanos);
    } else {
      calls
          .endings()
          .fail(call, FailureCode.NO_MEMBER, 0, FailureMessages.NOT_THIS_MEMBER, nowNanos);
    }
  }
}
