package io.eventbus.loadtest.workload;

import java.time.Duration;

/**
 * Subscribers that take their time over each event.
 *
 * <p>They are the last ones of the workload, and the window of unacknowledged messages does not
 * wait for them: what they do to the others is what the workload is there to show.
 *
 * @param subscribers how many are slow, 0 for none
 * @param mayLose whether events that a slow subscriber did not get are allowed; they are counted
 *     all the same
 */
public record Slowness(int subscribers, Duration perEvent, boolean mayLose) {
  /** No subscriber is slow. */
  public static final Slowness NONE = new Slowness(0, Duration.ZERO, false);

  /** Checks the figures. */
  public Slowness {
    Workload.require("slow.subscribers", subscribers, 0, Workload.MAX_SUBSCRIBERS);
    Workload.requireDuration("slow.perEvent", perEvent, Duration.ofSeconds(1));
  }
}
