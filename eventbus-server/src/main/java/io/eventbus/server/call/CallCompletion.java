package io.eventbus.server.call;

import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.tunnel.TunnelHalf;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.stats.RetryReason;
import org.jspecify.annotations.Nullable;

/**
 * Completion of the calls of one loop's callers, including repetition at another member. Confined
 * to the loop.
 */
final class CallCompletion {
  private final LoopCalls calls;

  CallCompletion(LoopCalls calls) {
    this.calls = calls;
  }

  /** Completes a call that the member has returned with a reply. */
  void replied(
      Call call, int handledMicros, @Nullable TunnelHalf accepting, Delivery reply, long nowNanos) {
    if (accepting != null && call.state() != CallState.ENDED && call.client().isClosed()) {
      // The member has to know that the other end of its tunnel has gone.
      abandon(
          call,
          FailureCode.CANCELLED,
          FailureMessages.CANCELLED,
          FailureMessages.CALLER_GONE,
          false,
          nowNanos);
    }
    if (isOver(call, nowNanos)) {
      return;
    }
    CallerConnection client = call.client();
    long request = call.key();
    long member = answeredBy(call);
    int queued = call.queuedMicros();
    TunnelHalf tunnel = call.tunnel();
    call.stats().replies.add(1);
    end(call, nowNanos);
    recycle(call);
    if (tunnel == null || accepting == null) {
      client.end().reply(request, member, queued, handledMicros, reply);
    } else {
      long limit = tunnel.accepted(accepting);
      client.end().accepted(request, member, queued, handledMicros, limit, reply);
    }
  }

  /**
   * Returns whether a returned call has ended for its caller; such a call goes to no other member
   * and is recycled.
   */
  private boolean isOver(Call call, long nowNanos) {
    if (call.state() != CallState.ENDED) {
      if (!call.client().isClosed()) {
        return false;
      }
      call.stats().failures(FailureCode.CANCELLED).add(1);
      end(call, nowNanos);
    }
    recycle(call);
    return true;
  }

  private long answeredBy(Call call) {
    long member = call.answeredBy();
    if (call.member().isPeer()) {
      calls.dispatcher().answered(member, call.member());
    }
    return member;
  }

  /** Completes or repeats a call that the member has returned with a failure. */
  void failed(
      Call call,
      FailureCode code,
      Execution executed,
      long retryAfterMillis,
      Delivery failure,
      long nowNanos) {
    if (isOver(call, nowNanos)) {
      return;
    }
    if (MemberConnection.isRefusal(code, executed) && canTryAnother(call, nowNanos)) {
      call.stats().retries(RetryReason.REFUSED).add(1);
      call.queuedNanos = nowNanos;
      call.become(CallState.READY);
      calls.dispatcher().redispatch(call, nowNanos);
      return;
    }
    CallerConnection client = call.client();
    long request = call.key();
    long member = answeredBy(call);
    // An earlier member may have executed it.
    Execution sure = executed == Execution.NO ? call.executed() : executed;
    call.stats().failures(code).add(1);
    end(call, nowNanos);
    recycle(call);
    client.end().failure(request, member, code, sure, retryAfterMillis, failure);
  }

  private static boolean canTryAnother(Call call, long nowNanos) {
    if (call.pinned() != 0 || call.isLate(nowNanos) || !call.refusals.refused(call.member())) {
      return false;
    }
    return isServedByOther(call);
  }

  private static boolean isServedByOther(Call call) {
    LocalService service = call.service().service;
    return isAnyOther(service.members(), call)
        || (!call.isLocalOnly() && isAnyOther(call.owner().services().peers(service), call));
  }

  private static boolean isAnyOther(ServiceMember[] members, Call call) {
    for (ServiceMember other : members) {
      if (other.serves() && !call.refusals.has(other)) {
        return true;
      }
    }
    return false;
  }

  /** Completes or repeats a call that the member's loop has returned without an answer. */
  void returned(Call call, ReturnReason why, long nowNanos) {
    if (isOver(call, nowNanos)) {
      return;
    }
    switch (why) {
      case UNWRITTEN -> {
        call.stats().retries(RetryReason.UNWRITTEN).add(1);
        call.become(CallState.READY);
        calls.dispatcher().redispatch(call, nowNanos);
      }
      case EXPIRED -> {
        call.stats().expired.add(1);
        call.become(CallState.READY);
        fail(call, FailureCode.TIMEOUT, 0, FailureMessages.EXPIRED, nowNanos);
      }
      case LOST -> lost(call, FailureMessages.MEMBER_LOST, nowNanos);
      case BUS_LOST -> lost(call, FailureMessages.BUS_LOST, nowNanos);
      case BUSY -> {
        call.stats().retries(RetryReason.BUSY).add(1);
        call.refusals.sentBack(call.member(), call.pinned() != 0);
        call.become(CallState.READY);
        calls.dispatcher().redispatch(call, nowNanos);
      }
      case NOT_THERE -> peerHasNoMember(call, nowNanos);
    }
  }

  /** Handles a call that a peer has returned because it has no member for it. */
  private void peerHasNoMember(Call call, long nowNanos) {
    boolean others = call.refusals.sentBack(call.member(), call.pinned() != 0);
    call.become(CallState.READY);
    if (call.pinned() != 0) {
      calls.dispatcher().redispatch(call, nowNanos);
    } else if (others && (isServedByOther(call) || call.waitNanos() > 0)) {
      call.stats().retries(RetryReason.BUSY).add(1);
      calls.dispatcher().redispatch(call, nowNanos);
    } else {
      fail(call, FailureCode.NO_MEMBER, 0, FailureMessages.NO_MEMBER, nowNanos);
    }
  }

  private void lost(Call call, String text, long nowNanos) {
    if (mayRepeat(call, nowNanos)) {
      call.stats().retries(RetryReason.LOST).add(1);
      call.repeat();
      call.queuedNanos = nowNanos;
      call.become(CallState.READY);
      calls.dispatcher().redispatch(call, nowNanos);
      return;
    }
    CallerConnection client = call.client();
    long request = call.key();
    long member = call.member().number();
    call.stats().failures(FailureCode.MEMBER_LOST).add(1);
    end(call, nowNanos);
    recycle(call);
    client.end().failure(request, member, FailureCode.MEMBER_LOST, Execution.UNKNOWN, 0, text);
  }

  private boolean mayRepeat(Call call, long nowNanos) {
    LoopService to = call.service();
    return call.isIdempotent()
        && call.pinned() == 0
        && call.retries < calls.settings().retries()
        && !call.isLate(nowNanos)
        && (call.isServed() || call.waitNanos() > 0)
        && to.retries.tryAcquire(nowNanos);
  }

  /** Handles a deadline of the call. */
  void due(Call call, long nowNanos) {
    if (call.state() == CallState.DISPATCHED) {
      if (call.isLate(nowNanos)) {
        abandon(
            call,
            FailureCode.TIMEOUT,
            FailureMessages.TIMED_OUT,
            FailureMessages.TIME_IS_OVER,
            true,
            nowNanos);
      } else {
        calls.deadlines().arm(call, call.deadlineNanos(), nowNanos);
      }
    } else if (call.isLate(nowNanos)) {
      call.stats().expired.add(1);
      fail(call, FailureCode.TIMEOUT, 0, FailureMessages.EXPIRED, nowNanos);
    } else if (call.returnsToPeer() && nowNanos - call.memberDeadlineNanos >= 0) {
      sendBack(call, nowNanos);
    } else if (call.isServed()) {
      calls.deadlines().arm(call, call.deadlineNanos(), nowNanos);
    } else {
      fail(call, FailureCode.NO_MEMBER, 0, FailureMessages.NO_MEMBER, nowNanos);
    }
  }

  /** Sends a peer's call back that has found no place: others may have one. */
  private void sendBack(Call call, long nowNanos) {
    CallerConnection client = call.client();
    long request = call.key();
    LoopService service = call.service();
    calls.dispatcher().leave(call);
    end(call, nowNanos);
    recycle(call);
    calls.services().forgetIdle(service);
    client.end().sendBack(request);
  }

  /** Cancels a call for its caller. */
  void cancel(Call call, String reason, long nowNanos) {
    if (call.state() == CallState.DISPATCHED) {
      abandon(call, FailureCode.CANCELLED, FailureMessages.CANCELLED, reason, false, nowNanos);
    } else {
      fail(call, FailureCode.CANCELLED, 0, FailureMessages.CANCELLED, nowNanos);
    }
  }

  /** Ends a call that a member has: the caller gets a failure, the member keeps the call. */
  private void abandon(
      Call call, FailureCode code, String text, String reason, boolean timedOut, long nowNanos) {
    CallerConnection client = call.client();
    ServiceMember member = call.member();
    long request = call.key();
    long number = call.number;
    call.stats().failures(code).add(1);
    end(call, nowNanos);
    call.releaseCaller();
    call.become(CallState.ENDED);
    if (member.loop() == calls.number()) {
      member.client().cancelled(number, timedOut, reason, nowNanos);
    } else {
      CallNote note = calls.startNote(member.loop(), CallNote.Kind.CANCEL);
      note.member = member;
      note.number = number;
      note.timedOut = timedOut;
      note.text = reason;
    }
    client.end().failure(request, member.number(), code, Execution.UNKNOWN, 0, text);
  }

  /** Fails a call that no member has. */
  void fail(Call call, FailureCode code, long retryAfterMillis, String text, long nowNanos) {
    CallerConnection client = call.client();
    long request = call.key();
    Execution executed = call.executed();
    LoopService service = call.service();
    calls.dispatcher().leave(call);
    call.stats().failures(code).add(1);
    end(call, nowNanos);
    recycle(call);
    calls.services().forgetIdle(service);
    client.end().failure(request, 0, code, executed, retryAfterMillis, text);
  }

  /** Ends a call for its caller. */
  private void end(Call call, long nowNanos) {
    calls.deadlines().disarm(call);
    call.stats().inFlight.add(-1);
    call.stats().time.record(nowNanos - call.begunNanos());
    call.client().ended(call);
  }

  private void recycle(Call call) {
    call.client().left();
    call.free();
    calls.recycle(call);
  }
}
