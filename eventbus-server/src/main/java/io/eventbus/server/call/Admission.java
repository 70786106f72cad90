package io.eventbus.server.call;

import io.eventbus.schema.CallPriority;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Whether a call may wait for a member: not where it can expect to wait in vain, and not where it
 * would take the room of others.
 *
 * <p>Of the room for waiting calls, one share may have as much as is left for all others ("dynamic
 * thresholds", Choudhury and Hahne 1998): so one that floods a service gets half of it, and the
 * next one that comes finds room. Confined to a loop, but for what is counted for the whole bus.
 */
final class Admission {
  /** {@link #check} says with this that the call may wait. */
  static final long ADMITTED = -1;

  private final CallSettings settings;
  private final AtomicLong queuedBytes;
  private final String tooMany;
  private final String tooMuch;
  private final String tooLong;
  private final String tooLate;
  private String reason = "";

  Admission(CallSettings settings, AtomicLong queuedBytes) {
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
        "the members are busy for longer than a call of this priority may wait (expected: a share"
            + " of "
            + settings.maxWaitNanos() / 1_000_000
            + " ms, services.max-wait)";
    this.tooLate = "the members are busy beyond the caller's time";
  }

  /**
   * Decides.
   *
   * @param queue where the call would wait
   * @param service the service
   * @param waiting the loops that share its places
   * @param speed calls in a nanosecond, 0 if not known
   * @return {@link #ADMITTED}, or when another try may be worth it in milliseconds, 0 for no advice
   */
  long check(
      Call call,
      ServiceQueue queue,
      Service service,
      WaitingLoops waiting,
      double speed,
      long nowNanos) {
    Share share = call.share();
    int others = settings.queueRequests() - service.queued().get();
    if (queue.size(share, call.priority()) >= others) {
      reason = tooMany;
      return 0;
    }
    if (share.queuedBytes + call.bytes() > settings.queueBytes() - queuedBytes.get()) {
      reason = tooMuch;
      return 0;
    }
    if (speed == 0) {
      return ADMITTED;
    }
    long ahead = queue.ahead(share, call.priority()) * Math.max(1, waiting.count());
    double wait = Math.min(ahead, service.queued().get() + 1L) / speed;
    double longest = settings.maxWaitNanos() * part(call.priority());
    double left = call.deadlineNanos() - nowNanos;
    if (wait <= Math.min(longest, left)) {
      return ADMITTED;
    }
    reason = wait > longest ? tooLong : tooLate;
    return 1 + (long) ((wait - Math.min(longest, left)) / 1e6);
  }

  /** For people: why the last call may not wait. */
  String reason() {
    return reason;
  }

  private static double part(CallPriority priority) {
    return switch (priority) {
      case HIGH -> 1;
      case NORMAL -> 0.5;
      case LOW -> 0.1;
    };
  }
}
