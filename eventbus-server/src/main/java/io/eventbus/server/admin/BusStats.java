package io.eventbus.server.admin;

import io.eventbus.server.balance.BalanceStatus;
import io.eventbus.server.federation.FederationFigures;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The figures of a bus at one moment: totals since its start unless they say "now".
 *
 * <p>The keys of the maps become labels of metrics: they must come from a small fixed set, never
 * from a client.
 *
 * @param connections what connections did
 * @param traffic what went in and out
 * @param memory what is held now
 * @param droppedByReason events that an overflow policy or the memory limit dropped
 * @param gaps {@code Gap} frames sent
 * @param problemsByCode {@code Problem} frames sent
 * @param latency from the receipt of an event to its write to a subscriber's socket
 * @param calls what became of calls of services
 * @param loops load of each event loop
 * @param topics topics that the loops remember now, each loop's counted
 * @param subscriptions subscriptions open now
 * @param accounts accounts that have clients now, besides the default one
 * @param registry the registry as this bus sees it
 * @param balance what moves clients between buses
 * @param federation what went between this bus and others
 * @param quotas how often quotas were met
 * @param secondsToExpiry how long certificates are still valid, by what they are for
 * @param jwksAgeSeconds how long ago keys of tokens were fetched; null where none are
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
   * What connections did.
   *
   * @param open open now
   * @param limit how many may be open
   * @param accepted accepted
   * @param refusedByReason refused at the door, by reason
   * @param tlsFailuresByReason TLS handshakes that failed, by reason
   * @param closedByReason closed, by reason
   * @param authenticationFailures connections with no credentials or wrong ones
   * @param foreignResumes welcomed with a new producer number in place of the one that they claimed
   * @param refusedLinksByReason connections to {@code cluster.port} that were refused, by reason
   * @param earlierByOutcome sessions that clients have left behind at other buses, by what became
   *     of them
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
   * What went in and out.
   *
   * @param messagesReceived WebSocket messages from clients
   * @param messagesSent WebSocket messages to clients
   * @param eventsReceived events from publishers
   * @param eventsSent events written to subscribers' sockets
   * @param bytesReceived bytes of WebSocket messages from clients
   * @param bytesSent bytes of WebSocket messages to clients
   * @param deliveries events times the subscribers that they were queued for
   * @param acknowledgements {@code Ack} frames from subscribers
   * @param publisherWaits times that a publisher had to wait
   * @param subscriptionWaits times that a change of subscriptions had to wait
   * @param ownEventsDropped events of the bus itself that it did not publish, because it would have
   *     had to wait
   * @param auditDropped entries of the audit log that were left out
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
   * What is held now.
   *
   * @param queueBytes bytes that wait for all subscribers together
   * @param usedBytes memory that the bus counts against its limit
   * @param limitBytes that limit
   * @param routeBytes heap that remembered topics and routes take
   */
  public record Memory(long queueBytes, long usedBytes, long limitBytes, long routeBytes) {}

  /**
   * A histogram.
   *
   * @param buckets buckets by rising upper bound; the last one's is {@link
   *     Double#POSITIVE_INFINITY}
   * @param sumSeconds sum of all values
   */
  public record Histogram(List<Bucket> buckets, double sumSeconds) {
    /** Copies the list, so that the record is immutable. */
    public Histogram {
      buckets = List.copyOf(buckets);
    }
  }

  /**
   * A bucket of a histogram.
   *
   * @param upperBoundSeconds greatest value that it counts
   * @param count values in this bucket alone, not in those below
   */
  public record Bucket(double upperBoundSeconds, long count) {}

  /**
   * The registry as this bus sees it.
   *
   * @param busesByState how many buses are in each state
   * @param leads whether this bus leads
   * @param term the term of the consensus; 0 before it runs
   * @param leaderChanges how often this bus has seen another leader than before
   * @param commits how long commits took while this bus led
   * @param logEntries entries of the log on this bus
   * @param logBytes size of its files
   * @param applyLag entries that are committed and not applied here yet
   * @param leaseAgeSeconds how long ago the registry last heard of this bus
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
   * What became of calls whose callers are connected to this bus.
   *
   * @param endedByResult calls that have ended, by their result
   * @param seconds from the receipt of a request to its answer
   * @param queueSeconds from the receipt of a request until its first member got it
   * @param inFlight calls that have not ended now
   * @param queued of these, those that wait for a member
   * @param retriesByReason calls given to another member, by reason
   * @param shedByPriority calls refused because too many waited, by priority
   * @param expired calls whose time ended before a member had them
   * @param tunnels streams and tunnels that are open now
   * @param tunnelBytes payload bytes that clients have sent by way of them
   * @param services services that have members now
   * @param members connections that serve them, each counted for each of its services
   * @param fromBuses calls that other buses have sent here
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
   * @param name name of its thread
   * @param busySeconds time that it was not waiting
   * @param busyShare share of the last seconds that it was not waiting, 0 to 1
   */
  public record Loop(String name, double busySeconds, double busyShare) {}

  /**
   * How often quotas were met, by quota; those of accounts begin with {@code account_}.
   *
   * @param waits clients that had to wait, or whose queues were cut
   * @param refusals connections and subscriptions that were refused
   */
  public record Quotas(Map<String, Long> waits, Map<String, Long> refusals) {
    /** Copies the maps, so that the record is immutable. */
    public Quotas {
      waits = Map.copyOf(waits);
      refusals = Map.copyOf(refusals);
    }
  }
}
