package io.eventbus.server.call;

import io.eventbus.schema.CallPriority;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Whether a call may wait for a member: not while those before it have waited for too long, and not
 * where it would take the room of others.
 *
 * <p>Only what has been waited for is looked at, as in CoDel (Nichols and Jacobson 2012), not how
 * fast members seem to be: a queue that a moment without answers has filled is empty soon. Of the
 * room for waiting calls, one share may have as much as is left for all others ("dynamic
 * thresholds", Choudhury and Hahne 1998): so one that floods a service gets half of it, and the
 * next one that comes finds room. Confined to a loop, but for what is counted for the whole bus.
 */
final class CallAdmission {
  /** {@link #check} says with this that the call may wait. */
  static final long ADMITTED = -1;

  private final CallSettings settings;
  private final AtomicLong queuedBytes;
  private final String tooMany;
  private final String tooMuch;
  private final String tooLong;
  private String reason = "";

  CallAdmission(CallSettings settings, AtomicLong queuedBytes) {
    this.settings = settings;
    this.queuedBytes = queuedBytes;
    this.tooMany =
        "too many calls of the service wait (expected: a share of "
            + settings.queueRequests()
            + ", services.queue-requests)";
    this.tooMuch =
        "too many bytes of calls wait (expected: a share of "
            + settings.queueBytes()
            + ", services.queue-bytes)";
    this.tooLong =
        "the members are busy, and calls have waited for longer than one of this priority and time"
            + " may (expected: a share of "
            + settings.maxWaitNanos() / 1_000_000
            + " ms, services.max-wait)";
  }

  /**
   * Decides. Time in which nobody serves the service, or can be reached, does not count.
   *
   * @param queue where the call would wait
   * @param only the one member that it is for; null if any may have it
   * @return {@link #ADMITTED}, or when another try may be worth it in milliseconds, 0 for no advice
   */
  long check(Call call, ServiceQueue queue, @Nullable ServiceMember only, long nowNanos) {
    FairnessGroup share = call.share();
    LocalService service = call.service().service;
    int others = settings.queueRequests() - service.queued().get();
    if (queue.size(share, call.priority()) >= others) {
      reason = tooMany;
      return 0;
    }
    if (share.queuedBytes + call.bytes() > settings.queueBytes() - queuedBytes.get()) {
      reason = tooMuch;
      return 0;
    }
    long most = mostNanos(call);
    long waited = queue.waited(share, call.priority(), nowNanos);
    if (Math.min(waited, nowNanos - service.openNanos(call.isHome())) <= most
        || !hasPlaces(call, only)) {
      return ADMITTED;
    }
    reason = tooLong;
    return retryAfterMillis(call);
  }

  /** Returns when another try of a call that calls have waited too long for may be worth it. */
  long retryAfterMillis(Call call) {
    return 1 + mostNanos(call) / 1_000_000;
  }

  /** For people: why a call that has waited makes way. */
  String tooLong() {
    return tooLong;
  }

  /** For people: why the last call may not wait. */
  String reason() {
    return reason;
  }

  /**
   * Says whether a call has waited for so long that it makes way while others are refused: who asks
   * faster than members can answer would else let all calls wait until their time is over.
   *
   * @param only as above
   * @param own whether one of its share is refused; else the call's time does not count
   */
  boolean isOverdue(Call call, @Nullable ServiceMember only, boolean own, long nowNanos) {
    long most = settings.maxWaitNanos();
    if (own) {
      most = Math.min(most, ownNanos(call));
    }
    return nowNanos - call.queuedNanos > most
        && nowNanos - call.service().service.openNanos(call.isHome()) > most
        && hasPlaces(call, only);
  }

  private static boolean hasPlaces(Call call, @Nullable ServiceMember only) {
    if (only != null) {
      return only.window().limit() > 0;
    }
    LoopService to = call.service();
    return hasPlaces(to.service.members()) || (!call.isHome() && hasPlaces(to.far));
  }

  private static boolean hasPlaces(ServiceMember[] members) {
    for (ServiceMember member : members) {
      if (member.window().limit() > 0) {
        return true;
      }
    }
    return false;
  }

  /** A part of the caller's time is left for the member. */
  private static long ownNanos(Call call) {
    return (call.deadlineNanos() - call.begunNanos()) / 4 * 3;
  }

  private long mostNanos(Call call) {
    return Math.min(settings.maxWaitNanos() / divisor(call.priority()), ownNanos(call));
  }

  private static int divisor(CallPriority priority) {
    return switch (priority) {
      case HIGH -> 1;
      case NORMAL -> 2;
      case LOW -> 10;
    };
  }
}
