package io.eventbus.server.stats;

import io.eventbus.schema.CallPriority;
import io.eventbus.schema.FailureCode;
import java.util.EnumMap;
import java.util.Map;

/**
 * Counters of calls whose callers are connected to one event loop. Only that loop writes; any
 * thread reads.
 */
public final class CallStats {
  /** Calls that callers have begun, also those that were refused at once. */
  public final SingleWriterCounter requests = new SingleWriterCounter();

  /** Calls that members have replied to. */
  public final SingleWriterCounter replies = new SingleWriterCounter();

  /** Calls that ended with {@code TIMEOUT} and that no member had. */
  public final SingleWriterCounter expired = new SingleWriterCounter();

  /** Calls that have not ended, now. */
  public final SingleWriterCounter inFlight = new SingleWriterCounter();

  /** Calls that wait for a member, now. */
  public final SingleWriterCounter queued = new SingleWriterCounter();

  /** Streams and tunnels that are open, now. */
  public final SingleWriterCounter tunnels = new SingleWriterCounter();

  /** Payload bytes that clients of the loop have sent in tunnels. */
  public final SingleWriterCounter tunnelBytes = new SingleWriterCounter();

  /** Time from the receipt of a request until its reply or failure. */
  public final LatencyBuckets time = new LatencyBuckets();

  /** Time from the receipt of a request until it was given to its first member. */
  public final LatencyBuckets queueTime = new LatencyBuckets();

  private final Map<FailureCode, SingleWriterCounter> failures =
      counters(new EnumMap<>(FailureCode.class), FailureCode.values());
  private final Map<RetryReason, SingleWriterCounter> retries =
      counters(new EnumMap<>(RetryReason.class), RetryReason.values());
  private final Map<CallPriority, SingleWriterCounter> shed =
      counters(new EnumMap<>(CallPriority.class), CallPriority.values());

  /** Creates counters at zero. */
  public CallStats() {}

  private static <E extends Enum<E>> Map<E, SingleWriterCounter> counters(
      EnumMap<E, SingleWriterCounter> map, E[] keys) {
    for (E key : keys) {
      map.put(key, new SingleWriterCounter());
    }
    return map;
  }

  /** Returns the counter of the calls that ended without a reply for a reason. */
  public SingleWriterCounter failures(FailureCode code) {
    return of(failures, code);
  }

  /** Returns the counter of the calls that were given to another member for a reason. */
  public SingleWriterCounter retries(RetryReason reason) {
    return of(retries, reason);
  }

  /** Returns the counter of the calls of a priority that were refused because too many waited. */
  public SingleWriterCounter shed(CallPriority priority) {
    return of(shed, priority);
  }

  private static <E> SingleWriterCounter of(Map<E, SingleWriterCounter> map, E key) {
    SingleWriterCounter counter = map.get(key);
    if (counter == null) {
      throw new IllegalStateException("no counter for " + key);
    }
    return counter;
  }
}
