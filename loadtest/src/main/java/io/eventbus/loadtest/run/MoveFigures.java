package io.eventbus.loadtest.run;

import java.util.Map;

/**
 * Figures of an experiment in which clients move from bus to bus.
 *
 * @param moves clients that arrived at another bus
 * @param arrivals times from the request, or the death of the bus, until a client was at another
 *     bus or served there; empty where many are asked one after the other
 * @param rounds times from the request until the last client had gone
 * @param pauses pauses of the subscribers that moved, or whose publisher moved
 * @param others pauses of the other subscribers in the same time
 * @param still pauses while nobody moved
 * @param before latency of events while nobody moved
 * @param after latency of events soon after the moves
 * @param stayed number of requests after which a client stayed, by reason
 * @param disconnects connections that were lost
 */
public record MoveFigures(
    int moves,
    Spread arrivals,
    Spread rounds,
    Spread pauses,
    Spread others,
    Spread still,
    LatencySummary before,
    LatencySummary after,
    Map<String, Long> stayed,
    long disconnects) {
  /** Takes a copy of the reasons. */
  public MoveFigures {
    stayed = Map.copyOf(stayed);
  }
}
