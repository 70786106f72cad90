package io.eventbus.loadtest.switching.run;

import io.eventbus.loadtest.run.Integrity;
import io.eventbus.loadtest.run.LatencySummary;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one experiment found.
 *
 * @param switching how long a client took, from the request, or the death of its bus, until it was
 *     at another bus or was served there; empty where many are asked one after the other
 * @param rounds how long each round took, from the request until the last client had gone
 * @param others pauses of subscribers that were not, in the same time
 * @param before latency of events while nobody moved
 * @param during latency of events while clients moved
 * @param after latency of events soon after
 * @param integrity of everything, from the first event to the last, but for what may be lost
 * @param problem why the experiment ended early, null if it did not
 */
public record SwitchResult(
    String experiment,
    String description,
    int changes,
    Spread switching,
    Spread rounds,
    Spread pauses,
    Spread others,
    Spread still,
    LatencySummary before,
    LatencySummary during,
    LatencySummary after,
    Integrity integrity,
    long allowedLost,
    Map<String, Long> stayed,
    long disconnects,
    @Nullable String problem) {
  /** Takes a copy of the reasons. */
  public SwitchResult {
    stayed = Map.copyOf(stayed);
  }
}
