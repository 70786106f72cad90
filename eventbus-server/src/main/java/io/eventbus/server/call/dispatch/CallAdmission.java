package io.eventbus.server.call.dispatch;

import io.eventbus.schema.CallPriority;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a call may wait for a member: not while those before it have waited too long, and
 * not if it would use up the room of others.
 *
 * <p>The measure is past waiting time, as in CoDel (Nichols and Jacobson 2012), not the estimated
 * speed of members: a queue filled by a moment without answers is empty soon. A fairness group may
 * use as much of the room for waiting calls as is left for all others ("dynamic thresholds",
 * Choudhury and Hahne 1998): a group that floods a service gets half of it, and the next one still
 * finds room. Confined to a loop, except for the counts of the whole bus.
 */
final class CallAdmission {
  /** Result of {@link #check} for a call that may wait. */
  static final long ADMITTED = -1;

  private final WaitLimits limits;
  private final AtomicLong queuedBytes;
  private final String tooMany;
  private final String tooMuch;
  private final String tooLong;
  private String reason = "";

  CallAdmission(WaitLimits limits, AtomicLong queuedBytes) {
    this.limits = limits;
    this.queuedBytes = queuedBytes;
    this.tooMany =
        "too many calls of the service wait (expected: a share of "
            + limits.queueRequests()
            + ", services.queue-requests)";
    this.tooMuch =
        "too many bytes of calls wait (expected: a share of "
            + limits.queueBytes()
            + ", services.queue-bytes)";
    this.tooLong =
        "the members are busy, and calls have waited for longer than one of this priority and time"
            + " may (expected: a share of "
            + limits.maxWaitNanos() / 1_000_000
            + " ms, services.max-wait)";
  }

  /**
   * Returns {@link #ADMITTED}, or after how many milliseconds a retry may succeed, 0 for no advice.
   * Time in which the service has no members, or none can be reached, does not count.
   *
   * @param queue queue in which the call would wait
   * @param only the only member that may have it; null for any
   */
  long check(QueuedCall call, ServiceQueue queue, @Nullable CandidateMember only, long nowNanos) {
    FairnessGroup group = call.group();
    CandidateService service = call.service().service();
    int others = limits.queueRequests() - service.queued().get();
    if (queue.size(group, call.priority()) >= others) {
      reason = tooMany;
      return 0;
    }
    if (group.queuedBytes + call.bytes() > limits.queueBytes() - queuedBytes.get()) {
      reason = tooMuch;
      return 0;
    }
    long max = maxNanos(call);
    long waited = queue.waited(group, call.priority(), nowNanos);
    if (Math.min(waited, nowNanos - service.openNanos(call.isLocalOnly())) <= max
        || !hasPlaces(call, only)) {
      return ADMITTED;
    }
    reason = tooLong;
    return retryAfterMillis(call);
  }

  /** Returns the retry-after in milliseconds for a call behind calls that have waited too long. */
  long retryAfterMillis(QueuedCall call) {
    return 1 + maxNanos(call) / 1_000_000;
  }

  /** Returns the message for a shed call that has waited. */
  String tooLong() {
    return tooLong;
  }

  /** Returns the message for the last refused call. */
  String reason() {
    return reason;
  }

  /**
   * Returns whether a waiting call is shed while others are refused: otherwise a caller that is
   * faster than members can answer would keep all calls waiting until they time out.
   *
   * @param only as above
   * @param own whether a call of its own group is refused; else the call's time does not count
   */
  boolean isOverdue(QueuedCall call, @Nullable CandidateMember only, boolean own, long nowNanos) {
    long max = limits.maxWaitNanos();
    if (own) {
      max = Math.min(max, ownNanos(call));
    }
    return nowNanos - call.queuedNanos() > max
        && nowNanos - call.service().service().openNanos(call.isLocalOnly()) > max
        && hasPlaces(call, only);
  }

  private static boolean hasPlaces(QueuedCall call, @Nullable CandidateMember only) {
    if (only != null) {
      return only.window().limit() > 0;
    }
    QueuedService to = call.service();
    return hasPlaces(to.service().members()) || (!call.isLocalOnly() && hasPlaces(to.peers()));
  }

  private static boolean hasPlaces(CandidateMember[] members) {
    for (CandidateMember member : members) {
      if (member.window().limit() > 0) {
        return true;
      }
    }
    return false;
  }

  /** Returns the part of the caller's time after which the rest is left for the member. */
  private static long ownNanos(QueuedCall call) {
    return (call.deadlineNanos() - call.begunNanos()) / 4 * 3;
  }

  private long maxNanos(QueuedCall call) {
    return Math.min(limits.maxWaitNanos() / divisor(call.priority()), ownNanos(call));
  }

  private static int divisor(CallPriority priority) {
    return switch (priority) {
      case HIGH -> 1;
      case NORMAL -> 2;
      case LOW -> 10;
    };
  }
}
