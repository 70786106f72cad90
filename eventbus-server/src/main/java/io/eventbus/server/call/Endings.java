package io.eventbus.server.call;

import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.routing.Delivery;
import io.eventbus.server.stats.RetryReason;

/**
 * How the calls of one loop's callers end, and which of them a member gets in place of another.
 * Confined to the loop.
 */
final class Endings {
  private final LoopCalls calls;

  Endings(LoopCalls calls) {
    this.calls = calls;
  }

  /** The member has given the call back with a reply. */
  void replied(Call call, int handledMicros, Delivery reply, long nowNanos) {
    if (call.state() == CallState.ENDED) {
      recycle(call);
      return;
    }
    CallingClient client = call.client();
    long request = call.key();
    long member = call.member().number();
    long queued = (call.invokedNanos() - call.begunNanos()) / 1_000;
    calls.stats().replies.add(1);
    end(call, nowNanos);
    recycle(call);
    client
        .end()
        .reply(request, member, (int) Math.min(Integer.MAX_VALUE, queued), handledMicros, reply);
  }

  /** The member has given the call back with a failure. */
  void failed(
      Call call,
      FailureCode code,
      Execution executed,
      long retryAfterMillis,
      Delivery failure,
      long nowNanos) {
    if (call.state() == CallState.ENDED) {
      recycle(call);
      return;
    }
    if (ServingClient.isRefusal(code, executed) && goesToOther(call, nowNanos)) {
      calls.stats().retries(RetryReason.REFUSED).add(1);
      call.become(CallState.READY);
      calls.places().again(call, nowNanos);
      return;
    }
    CallingClient client = call.client();
    long request = call.key();
    long member = call.member().number();
    // An earlier member may have executed it.
    Execution sure = executed == Execution.NO ? call.executed() : executed;
    calls.stats().failures(code).add(1);
    end(call, nowNanos);
    recycle(call);
    client.end().failure(request, member, code, sure, retryAfterMillis, failure);
  }

  private static boolean goesToOther(Call call, long nowNanos) {
    if (call.pinned() != 0 || call.isLate(nowNanos) || !call.refusedBy(call.member())) {
      return false;
    }
    for (ServiceMember other : call.service().service.members()) {
      if (other.serves() && !call.wasRefusedBy(other)) {
        return true;
      }
    }
    return false;
  }

  /** The member's loop has given the call back without an answer. */
  void returned(Call call, Returned why, long nowNanos) {
    if (call.state() == CallState.ENDED) {
      recycle(call);
      return;
    }
    switch (why) {
      case UNWRITTEN -> {
        calls.stats().retries(RetryReason.UNWRITTEN).add(1);
        call.become(CallState.READY);
        calls.places().again(call, nowNanos);
      }
      case EXPIRED -> {
        calls.stats().expired.add(1);
        call.become(CallState.READY);
        fail(call, FailureCode.TIMEOUT, 0, Texts.EXPIRED, nowNanos);
      }
      case LOST -> lost(call, nowNanos);
    }
  }

  private void lost(Call call, long nowNanos) {
    if (mayRepeat(call, nowNanos)) {
      calls.stats().retries(RetryReason.LOST).add(1);
      call.repeat();
      call.become(CallState.READY);
      calls.places().again(call, nowNanos);
      return;
    }
    CallingClient client = call.client();
    long request = call.key();
    long member = call.member().number();
    calls.stats().failures(FailureCode.MEMBER_LOST).add(1);
    end(call, nowNanos);
    recycle(call);
    client
        .end()
        .failure(request, member, FailureCode.MEMBER_LOST, Execution.UNKNOWN, 0, Texts.MEMBER_LOST);
  }

  private boolean mayRepeat(Call call, long nowNanos) {
    LoopService to = call.service();
    return call.isIdempotent()
        && call.pinned() == 0
        && call.retries < calls.settings().retries()
        && !call.isLate(nowNanos)
        && (to.service.isServed() || call.waitNanos() > 0)
        && to.retries.take(nowNanos);
  }

  /** A deadline of the call has passed. */
  void due(Call call, long nowNanos) {
    if (call.state() == CallState.DISPATCHED) {
      if (call.isLate(nowNanos)) {
        abandon(call, FailureCode.TIMEOUT, Texts.TIMED_OUT, Texts.TIME_IS_OVER, true, nowNanos);
      } else {
        calls.deadlines().arm(call, call.deadlineNanos(), nowNanos);
      }
    } else if (call.isLate(nowNanos)) {
      calls.stats().expired.add(1);
      fail(call, FailureCode.TIMEOUT, 0, Texts.EXPIRED, nowNanos);
    } else if (call.service().service.isServed()) {
      calls.deadlines().arm(call, call.deadlineNanos(), nowNanos);
    } else {
      fail(call, FailureCode.NO_MEMBER, 0, Texts.NO_MEMBER, nowNanos);
    }
  }

  /** The caller does not want the answer any more. */
  void cancel(Call call, String reason, long nowNanos) {
    if (call.state() == CallState.DISPATCHED) {
      abandon(call, FailureCode.CANCELLED, Texts.CANCELLED, reason, false, nowNanos);
    } else {
      fail(call, FailureCode.CANCELLED, 0, Texts.CANCELLED, nowNanos);
    }
  }

  /** Ends a call that a member has: the caller is told, the member keeps it. */
  private void abandon(
      Call call, FailureCode code, String text, String reason, boolean timedOut, long nowNanos) {
    CallingClient client = call.client();
    ServiceMember member = call.member();
    long request = call.key();
    long number = call.number;
    calls.stats().failures(code).add(1);
    end(call, nowNanos);
    call.become(CallState.ENDED);
    if (member.loop() == calls.number()) {
      member.client().cancelled(number, timedOut, reason, nowNanos);
    } else {
      CallHandOverQueue.Note note = calls.tell(member.loop(), CallHandOverQueue.Kind.CANCEL);
      note.member = member;
      note.number = number;
      note.timedOut = timedOut;
      note.text = reason;
    }
    if (!client.isClosed()) {
      client.end().failure(request, member.number(), code, Execution.UNKNOWN, 0, text);
    }
  }

  /** Ends a call that no member has. */
  void fail(Call call, FailureCode code, long retryAfterMillis, String text, long nowNanos) {
    CallingClient client = call.client();
    long request = call.key();
    Execution executed = call.executed();
    LoopService service = call.service();
    calls.places().leave(call);
    calls.stats().failures(code).add(1);
    end(call, nowNanos);
    recycle(call);
    calls.services().forgetIdle(service);
    if (!client.isClosed()) {
      client.end().failure(request, 0, code, executed, retryAfterMillis, text);
    }
  }

  /** The caller has nothing more to expect. */
  private void end(Call call, long nowNanos) {
    calls.deadlines().disarm(call);
    calls.stats().inFlight.add(-1);
    calls.stats().time.record(nowNanos - call.begunNanos());
    call.client().ended(call);
  }

  private void recycle(Call call) {
    call.client().left();
    call.free();
    calls.recycle(call);
  }
}
