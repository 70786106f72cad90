package io.eventbus.server.call;

import io.eventbus.server.delivery.Delivery;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/** Finds the oldest open calls of a loop; those of peers are found there. Confined to the loop. */
final class SlowCalls {
  private static final Comparator<Call> BY_AGE =
      // Differences, because the clock has no origin.
      (one, other) -> Long.signum(other.begunNanos() - one.begunNanos());

  private SlowCalls() {}

  /** Returns the oldest calls, oldest first. */
  static List<OpenCall> of(TimerWheel deadlines, int max, long nowNanos) {
    PriorityQueue<Call> oldest = new PriorityQueue<>(BY_AGE);
    deadlines.forEach(
        entry -> {
          if (entry instanceof Call call && !call.isLocalOnly()) {
            oldest.add(call);
            if (oldest.size() > max) {
              // The youngest.
              oldest.poll();
            }
          }
        });
    List<OpenCall> all = new ArrayList<>(oldest.size());
    for (Call call : oldest) {
      all.add(describe(call, nowNanos));
    }
    all.sort(Comparator.comparingLong(OpenCall::ageNanos).reversed());
    return all;
  }

  private static OpenCall describe(Call call, long nowNanos) {
    boolean waits = call.state() != CallState.DISPATCHED;
    ServiceMember member = waits ? null : call.member;
    return new OpenCall(
        call.service().service.account(),
        call.service().service.name(),
        method(call),
        call.client().info().producer(),
        call.request(),
        waits,
        member == null ? 0 : member.number(),
        call.attempt(),
        nowNanos - call.begunNanos(),
        call.deadlineNanos() - nowNanos);
  }

  private static String method(Call call) {
    Delivery body = call.body();
    ByteBuffer frame = body.frame();
    frame.limit(frame.position() + call.methodLength());
    return StandardCharsets.UTF_8.decode(frame).toString();
  }
}
