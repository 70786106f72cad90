package io.eventbus.server.view;

import io.eventbus.server.balance.BalanceStatus;
import io.eventbus.server.federation.FederationFigures;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Figures of a bus at one moment: totals since its start unless they say "now".
 *
 * <p>The keys of the maps become labels of metrics: they must come from a small fixed set, never
 * from a client.
 *
 * @param secondsToExpiry how long certificates are still valid, by their use
 * @param jwksAgeSeconds age of the fetched keys of tokens; null if none are fetched
 */
public record BusStats(
    Connections connections,
    Traffic traffic,
    Memory memory,
    Map<String, Long> droppedByReason,
    long gaps,
    Map<String, Long> problemsByCode,
    Histogram latency,
    Calls calls,
    List<Loop> loops,
    long topics,
    long subscriptions,
    long accounts,
    Registry registry,
    BalanceStatus balance,
    FederationFigures federation,
    Quotas quotas,
    Durable durable,
    Map<String, Long> secondsToExpiry,
    @Nullable Double jwksAgeSeconds) {
  /** Copies the collections, so that the record is immutable. */
  public BusStats {
    droppedByReason = Map.copyOf(droppedByReason);
    problemsByCode = Map.copyOf(problemsByCode);
    loops = List.copyOf(loops);
    secondsToExpiry = Map.copyOf(secondsToExpiry);
  }

  /**
   * Figures of connections.
   *
   * @param limit maximum of open ones
   */
  public record Connections(
      long open,
      long limit,
      long accepted,
      Map<String, Long> refusedByReason,
      Map<String, Long> tlsFailuresByReason,
      Map<String, Long> closedByReason,
      long authenticationFailures,
      long foreignResumes,
      Map<String, Long> refusedLinksByReason,
      Map<String, Long> earlierByOutcome) {
    /** Copies the maps, so that the record is immutable. */
    public Connections {
      refusedByReason = Map.copyOf(refusedByReason);
      tlsFailuresByReason = Map.copyOf(tlsFailuresByReason);
      closedByReason = Map.copyOf(closedByReason);
      refusedLinksByReason = Map.copyOf(refusedLinksByReason);
      earlierByOutcome = Map.copyOf(earlierByOutcome);
    }
  }

  /**
   * Figures of traffic.
   *
   * @param bytesReceived bytes of WebSocket messages from clients
   * @param bytesSent bytes of WebSocket messages to clients
   * @param ownEventsDropped events of the bus itself that it did not publish, because it would have
   *     had to wait
   */
  public record Traffic(
      long messagesReceived,
      long messagesSent,
      long eventsReceived,
      long eventsSent,
      long bytesReceived,
      long bytesSent,
      long deliveries,
      long acknowledgements,
      long publisherWaits,
      long subscriptionWaits,
      long ownEventsDropped,
      long auditDropped) {}

  /**
   * Memory in use now.
   *
   * @param queueBytes bytes that wait for all subscribers together
   */
  public record Memory(long queueBytes, long usedBytes, long limitBytes, long routeBytes) {}

  /** Histogram of durations. */
  public record Histogram(List<Bucket> buckets, double sumSeconds) {
    /** Copies the list, so that the record is immutable. */
    public Histogram {
      buckets = List.copyOf(buckets);
    }
  }

  /**
   * Bucket of a histogram.
   *
   * @param count values in this bucket alone, not in those below
   */
  public record Bucket(double upperBoundSeconds, long count) {}

  /**
   * Registry as this bus sees it.
   *
   * @param term the term of the consensus; 0 before it runs
   * @param leaderChanges how often this bus has seen another leader than before
   * @param commits how long commits took while this bus led
   * @param applyLag entries that are committed and not applied here yet
   * @param silenceSeconds for how long this bus may have missed what the leader knows
   */
  public record Registry(
      Map<String, Long> busesByState,
      boolean leads,
      long term,
      long leaderChanges,
      Histogram commits,
      long logEntries,
      long logBytes,
      long applyLag,
      double leaseAgeSeconds,
      double silenceSeconds) {
    /** Copies the map, so that the record is immutable. */
    public Registry {
      busesByState = Map.copyOf(busesByState);
    }
  }

  /**
   * Figures of calls whose callers are connected to this bus.
   *
   * @param seconds from the receipt of a request to its answer
   * @param queueSeconds from the receipt of a request until its first member got it
   * @param inFlight calls that have not ended now
   * @param expired calls whose time ended before a member had them
   * @param tunnelBytes payload bytes that clients have sent in tunnels
   */
  public record Calls(
      Map<String, Long> endedByResult,
      Histogram seconds,
      Histogram queueSeconds,
      long inFlight,
      long queued,
      Map<String, Long> retriesByReason,
      Map<String, Long> shedByPriority,
      long expired,
      long tunnels,
      long tunnelBytes,
      long services,
      long members,
      long fromBuses) {
    /** Copies the maps, so that the record is immutable. */
    public Calls {
      endedByResult = Map.copyOf(endedByResult);
      retriesByReason = Map.copyOf(retriesByReason);
      shedByPriority = Map.copyOf(shedByPriority);
    }
  }

  /**
   * Load of an event loop.
   *
   * @param busySeconds time that it was not waiting
   * @param busyShare share of the last seconds that it was not waiting, 0 to 1
   */
  public record Loop(String name, double busySeconds, double busyShare) {}

  /**
   * Figures of durable topics; those of journals may be some seconds old.
   *
   * @param journals number of journals
   * @param bytes size of the stored events
   * @param subscriptions number of durable subscriptions
   * @param maxLag positions that the durable subscription furthest behind has not settled
   * @param pendingBytes bytes of publications that wait for the disk now
   * @param confirmations publications that were stored
   * @param lateSettlements settlements of events that their consumers had no more
   * @param refusalsByCode publications that were refused
   * @param shardLeader 1 if this bus leads the replicas, else 0
   * @param shardBehindEntries committed entries that the replica furthest behind does not know, as
   *     the leader knows; 0 at others
   */
  public record Durable(
      long journals,
      long bytes,
      long events,
      long subscriptions,
      long maxLag,
      long pendingBytes,
      long confirmations,
      long lateSettlements,
      Map<String, Long> refusalsByCode,
      long shardLeader,
      long shardBehindEntries) {
    /** Copies the map, so that the record is immutable. */
    public Durable {
      refusalsByCode = Map.copyOf(refusalsByCode);
    }
  }

  /** Counts of reached quotas, by quota; those of accounts begin with {@code account_}. */
  public record Quotas(Map<String, Long> waits, Map<String, Long> refusals) {
    /** Copies the maps, so that the record is immutable. */
    public Quotas {
      waits = Map.copyOf(waits);
      refusals = Map.copyOf(refusals);
    }
  }
}
