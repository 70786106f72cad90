package io.eventbus.server.federation;

import io.eventbus.server.federation.call.CallStreamFigures;
import io.eventbus.server.federation.interest.LocalInterest;
import io.eventbus.server.federation.lane.LaneCounters;
import io.eventbus.server.federation.lane.LaneLoop;
import io.eventbus.server.federation.lane.Lanes;
import io.eventbus.server.federation.lane.Peer;
import io.eventbus.server.stats.SingleWriterCounter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Counters of the traffic with peers: totals since its start unless they say "now".
 *
 * @param lanesDown lanes that are not up, now
 * @param queuedBytes bytes that wait for peers, or for their acknowledgement, now
 * @param bytesSent bytes of those frames
 * @param lostByReason events that did not reach a peer that needed them, by reason; a peer that had
 *     ended in order does not need them
 * @param lostByBus the same by peer, without frames that a full lane dropped or that were not
 *     needed
 * @param resent frames sent again after a lane was cut
 * @param latePromises guarantees to clients that peers did not confirm in time
 * @param mismatches times that the interest reported by a peer was inconsistent
 */
public record FederationFigures(
    long lanesUp,
    long lanesDown,
    long queuedBytes,
    long eventsSent,
    long eventsReceived,
    long eventsRelayed,
    long framesSent,
    long bytesSent,
    Map<String, Long> lostByReason,
    Map<String, Long> lostByBus,
    long connects,
    long resent,
    List<Long> hops,
    long filters,
    long latePromises,
    long mismatches,
    CallStreamFigures calls) {
  /** Counters of a bus that serves alone. */
  public static final FederationFigures NONE =
      of(List.of(), List.of(), 0, 0, 0, CallStreamFigures.NONE);

  /** Copies the collections, so that the record is immutable. */
  public FederationFigures {
    lostByReason = Map.copyOf(lostByReason);
    lostByBus = Map.copyOf(lostByBus);
    hops = List.copyOf(hops);
  }

  static FederationFigures of(
      Lanes lanes, LocalInterest interest, long late, long mismatches, CallStreamFigures calls) {
    return of(
        lanes.loops().stream().map(LaneLoop::counters).toList(),
        List.copyOf(lanes.peers().all()),
        interest.size(),
        late,
        mismatches,
        calls);
  }

  private static FederationFigures of(
      List<LaneCounters> loops,
      List<Peer> peers,
      long filters,
      long late,
      long mismatches,
      CallStreamFigures calls) {
    Map<String, Long> reasons = new LinkedHashMap<>();
    reasons.put("given_up", sum(loops, c -> c.lostGivenUp));
    reasons.put("not_needed", sum(loops, c -> c.notNeeded));
    reasons.put("restarted", sum(loops, c -> c.lostRestarted));
    reasons.put("queue_full", sum(loops, c -> c.lostQueueFull));
    reasons.put("no_member", sum(loops, c -> c.lostNoMember));
    Map<String, Long> buses = new LinkedHashMap<>();
    long up = 0;
    long queued = 0;
    for (Peer peer : peers) {
      up += peer.upLanes();
      queued += peer.queuedBytes();
      buses.put(peer.id().value(), peer.lost());
    }
    List<Long> hops = new ArrayList<>();
    for (int i = 0; i < LaneCounters.MAX_HOPS; i++) {
      int at = i;
      hops.add(sum(loops, c -> c.hops[at]));
    }
    return new FederationFigures(
        up,
        (long) peers.size() * loops.size() - up,
        queued,
        sum(loops, c -> c.eventsOut),
        sum(loops, c -> c.eventsIn),
        sum(loops, c -> c.eventsRelayed),
        sum(loops, c -> c.framesOut),
        sum(loops, c -> c.bytesOut),
        reasons,
        buses,
        sum(loops, c -> c.connects),
        sum(loops, c -> c.resent),
        hops,
        filters,
        late,
        mismatches,
        calls);
  }

  private static long sum(
      List<LaneCounters> loops, Function<LaneCounters, SingleWriterCounter> counter) {
    return loops.stream().mapToLong(c -> counter.apply(c).get()).sum();
  }
}
