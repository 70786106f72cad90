package io.eventbus.loadtest.switching.run;

import io.eventbus.loadtest.run.Integrity;
import io.eventbus.loadtest.run.LatencySummary;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one experiment found.
 *
 * @param experiment its name
 * @param description of what was done, in one sentence
 * @param changes how often a client arrived at another bus, in what counts
 * @param switching how long a client took, from the request, or the death of its bus, until it was
 *     at another bus or was served there; empty where many are asked one after the other
 * @param rounds how long each round took, from the request until the last client had gone
 * @param pauses of subscribers that were concerned: those that moved, or whose publisher did
 * @param others pauses of subscribers that were not, in the same time
 * @param still pauses in time without a change, each as long as one with
 * @param before latency of events while nobody moved
 * @param during latency of events while clients moved
 * @param after latency of events soon after
 * @param integrity of everything, from the first event to the last, but for what may be lost
 * @param allowedLost events that were lost with a bus that was killed
 * @param stayed why clients that were asked to change stayed, and how often
 * @param disconnects how often a client lost its connection
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
