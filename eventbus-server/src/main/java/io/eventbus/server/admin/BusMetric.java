package io.eventbus.server.admin;

import io.eventbus.server.balance.BalanceStatus;
import io.eventbus.server.view.BusStats;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * Metric of the bus: its name, its meaning, and its source in {@link BusStats}. The list in {@code
 * docs/monitoring.md} is generated from this one. It is long because it is a table: a line for each
 * metric.
 *
 * @param label name of its label, empty for none
 */
record BusMetric(
    String name,
    String type,
    String label,
    String help,
    Function<BusStats, MetricSnapshot> reader) {

  private static final String LATENCY_HELP =
      "Time from the receipt of an event until its subscriber's socket has it; an event counts"
          + " once for each subscriber.";

  private static final String JWKS_AGE_HELP =
      "Time since the keys of `auth.jwt.jwks-url` were fetched, or since the start if never; they"
          + " hold for a day.";

  static final List<BusMetric> ALL =
      List.of(
          gauge("eventbus_connections", "Open client connections.", s -> s.connections().open()),
          gauge(
              "eventbus_connections_limit",
              "Client connections that may be open: `listen.max-connections`, or fewer if"
                  + " descriptors or heap do not suffice.",
              s -> s.connections().limit()),
          counter(
              "eventbus_connections_accepted_total",
              "Connections that TCP accepted.",
              s -> s.connections().accepted()),
          counters(
              "eventbus_refused_connections_total",
              "reason",
              "Connections that were refused before they could send anything, by the limit that"
                  + " they met.",
              s -> s.connections().refusedByReason()),
          counters(
              "eventbus_tls_failures_total",
              "reason",
              "TLS handshakes of clients that failed, by reason.",
              s -> s.connections().tlsFailuresByReason()),
          counter(
              "eventbus_authentication_failures_total",
              "Clients that were refused for missing or wrong credentials.",
              s -> s.connections().authenticationFailures()),
          counters(
              "eventbus_connections_closed_total",
              "reason",
              "Connections that ended: by the name of the bus's close code, or"
                  + " `closed_by_client`, `too_many_connections`, `not_upgraded`.",
              s -> s.connections().closedByReason()),
          counter(
              "eventbus_resumes_rejected_total",
              "Clients that got a new producer number, because this bus's key has not signed"
                  + " their resume.",
              s -> s.connections().foreignResumes()),
          counters(
              "eventbus_refused_links_total",
              "reason",
              "Connections to `cluster.port` that were refused: `stranger` (no valid handshake),"
                  + " or `too_many`.",
              s -> s.connections().refusedLinksByReason()),
          counters(
              "eventbus_stale_sessions_total",
              "outcome",
              "Sessions that clients left behind at another bus: `ended` there, `gone` already,"
                  + " or `unknown` (no answer).",
              s -> s.connections().earlierByOutcome()),
          counter(
              "eventbus_received_messages_total",
              "WebSocket messages from clients.",
              s -> s.traffic().messagesReceived()),
          counter(
              "eventbus_sent_messages_total",
              "WebSocket messages to clients.",
              s -> s.traffic().messagesSent()),
          counter(
              "eventbus_received_events_total",
              "Events from publishers, including the bus's own (`$SYS.…`).",
              s -> s.traffic().eventsReceived()),
          counter(
              "eventbus_sent_events_total",
              "Events written to subscribers' sockets.",
              s -> s.traffic().eventsSent()),
          counter(
              "eventbus_received_bytes_total",
              "Bytes of WebSocket messages from clients.",
              s -> s.traffic().bytesReceived()),
          counter(
              "eventbus_sent_bytes_total",
              "Bytes of WebSocket messages to clients.",
              s -> s.traffic().bytesSent()),
          counter(
              "eventbus_deliveries_total",
              "Events queued for subscribers; an event counts once for each subscriber.",
              s -> s.traffic().deliveries()),
          counter(
              "eventbus_acknowledgements_total",
              "`Ack` frames from subscribers.",
              s -> s.traffic().acknowledgements()),
          counter(
              "eventbus_publisher_waits_total",
              "Times that the bus stopped reading a publisher: a `BLOCK` queue, the way to"
                  + " another event loop, or the memory was full.",
              s -> s.traffic().publisherWaits()),
          counter(
              "eventbus_subscription_waits_total",
              "Times that a `Subscribe` or `Unsubscribe` waited, because routes with many"
                  + " subscriptions were rebuilt too often.",
              s -> s.traffic().subscriptionWaits()),
          counter(
              "eventbus_sys_events_dropped_total",
              "`$SYS.…` events that the bus did not publish, because a `BLOCK` subscriber or the"
                  + " link to another bus was full.",
              s -> s.traffic().ownEventsDropped()),
          counter(
              "eventbus_audit_entries_dropped_total",
              "Entries that the audit log left out, because they came too fast.",
              s -> s.traffic().auditDropped()),
          gauge(
              "eventbus_queue_bytes",
              "Bytes that wait for all subscribers together.",
              s -> s.memory().queueBytes()),
          gauge(
              "eventbus_memory_used_bytes",
              "Memory that counts against `limits.memory-bytes`.",
              s -> s.memory().usedBytes()),
          gauge(
              "eventbus_memory_limit_bytes",
              "The limit of `limits.memory-bytes`.",
              s -> s.memory().limitBytes()),
          gauge(
              "eventbus_route_memory_bytes",
              "Estimated heap of remembered topics and routes; at most a sixteenth of the JVM's.",
              s -> s.memory().routeBytes()),
          counters(
              "eventbus_dropped_events_total",
              "reason",
              "Events dropped at a subscriber's queue, by reason.",
              BusStats::droppedByReason),
          counter("eventbus_gaps_total", "`Gap` frames sent to subscribers.", BusStats::gaps),
          counters(
              "eventbus_problems_total",
              "code",
              "`Problem` frames sent to clients, by code.",
              BusStats::problemsByCode),
          counters(
              "eventbus_quota_waits_total",
              "quota",
              "Times that a connection was not read, or its queue cut, because its identity or"
                  + " account (`account_…`) used up a quota.",
              s -> s.quotas().waits()),
          counters(
              "eventbus_quota_refusals_total",
              "quota",
              "Connections, subscriptions, requests, durable events and journals refused, because"
                  + " their identity or account (`account_…`) used up a quota.",
              s -> s.quotas().refusals()),
          histogram("eventbus_latency_seconds", LATENCY_HELP, BusStats::latency),
          counters(
              "eventbus_calls_total",
              "result",
              "Calls by clients of this bus that ended: `reply`, or the code of the failure.",
              s -> s.calls().endedByResult()),
          histogram(
              "eventbus_call_seconds",
              "Time from the receipt of a request to its answer.",
              s -> s.calls().seconds()),
          histogram(
              "eventbus_call_queue_seconds",
              "Time from the receipt of a request until a member first had it.",
              s -> s.calls().queueSeconds()),
          gauge(
              "eventbus_calls_in_flight", "Calls that have not ended.", s -> s.calls().inFlight()),
          gauge("eventbus_calls_queued", "Calls that wait for a member.", s -> s.calls().queued()),
          counters(
              "eventbus_call_retries_total",
              "reason",
              "Calls given to another member: the first one `refused`, left while they were"
                  + " `unwritten`, or was `lost`; or the other bus was `busy`.",
              s -> s.calls().retriesByReason()),
          counters(
              "eventbus_calls_shed_total",
              "priority",
              "Calls refused because too many waited already, by priority.",
              s -> s.calls().shedByPriority()),
          counter(
              "eventbus_calls_expired_total",
              "Calls whose time-out passed before a member had them.",
              s -> s.calls().expired()),
          gauge(
              "eventbus_tunnels",
              "Open streams and tunnels whose callers are connected to this bus.",
              s -> s.calls().tunnels()),
          counter(
              "eventbus_tunnel_bytes_total",
              "Bytes that clients of this bus sent through streams and tunnels.",
              s -> s.calls().tunnelBytes()),
          gauge(
              "eventbus_services",
              "Services that have members at this bus.",
              s -> s.calls().services()),
          gauge(
              "eventbus_service_members",
              "Members at this bus; a connection counts once for each of its services.",
              s -> s.calls().members()),
          counter(
              "eventbus_calls_sent_to_buses_total",
              "Calls sent to other buses, counted at each attempt.",
              s -> s.federation().calls().callsSent()),
          counter(
              "eventbus_calls_returned_total",
              "Calls that other buses returned, because no member was free.",
              s -> s.federation().calls().callsBack()),
          counter(
              "eventbus_calls_received_from_buses_total",
              "Calls received from other buses.",
              s -> s.calls().fromBuses()),
          gauge(
              "eventbus_call_streams",
              "Streams of calls to other buses that are up.",
              s -> s.federation().calls().streamsUp()),
          gauge(
              "eventbus_call_stream_queue_bytes",
              "Bytes of calls and answers that wait for other buses, or for their acknowledgement.",
              s -> s.federation().calls().queuedBytes()),
          counter(
              "eventbus_call_stream_connects_total",
              "Streams of calls that came up, at first or again.",
              s -> s.federation().calls().connects()),
          counter(
              "eventbus_call_stream_resent_frames_total",
              "Frames sent again after a stream of calls was cut.",
              s -> s.federation().calls().resent()),
          loops(
              "eventbus_event_loop_busy_seconds_total",
              "counter",
              "Time in which an event loop was working.",
              BusStats.Loop::busySeconds),
          loops(
              "eventbus_event_loop_busy_ratio",
              "gauge",
              "Share of the last seconds in which an event loop was working, 0 to 1.",
              BusStats.Loop::busyShare),
          gauge(
              "eventbus_topics",
              "Topics that the event loops remember, counted once for each loop.",
              BusStats::topics),
          gauge("eventbus_subscriptions", "Open subscriptions.", BusStats::subscriptions),
          gauge(
              "eventbus_accounts",
              "Accounts with clients at this bus, besides the default one.",
              BusStats::accounts),
          gauges(
              "eventbus_registry_buses",
              "state",
              "Buses in the registry, by state.",
              s -> s.registry().busesByState()),
          gauge(
              "eventbus_registry_leader",
              "1 when this bus leads the registry, else 0.",
              s -> s.registry().leads() ? 1 : 0),
          gauge(
              "eventbus_registry_term",
              "Term of the consensus; it grows with every election.",
              s -> s.registry().term()),
          counter(
              "eventbus_registry_leader_changes_total",
              "Changes of the leader that this bus has seen.",
              s -> s.registry().leaderChanges()),
          histogram(
              "eventbus_registry_commit_seconds",
              "Time from the proposal of an entry until a majority stored it and this bus applied"
                  + " it, while it led.",
              s -> s.registry().commits()),
          gauge(
              "eventbus_registry_log_entries",
              "Entries of the registry's log on this bus.",
              s -> s.registry().logEntries()),
          gauge(
              "eventbus_registry_log_bytes",
              "Size of the files of the registry's log on this bus.",
              s -> s.registry().logBytes()),
          gauge(
              "eventbus_registry_apply_lag_entries",
              "Committed entries that this bus has not applied yet.",
              s -> s.registry().applyLag()),
          gauge(
              "eventbus_registry_lease_age_seconds",
              "Time since the registry renewed this bus's lease; at `cluster.lease` it counts as"
                  + " DOWN.",
              s -> s.registry().leaseAgeSeconds()),
          gauge(
              "eventbus_registry_silence_seconds",
              "How long this bus may have missed changes that the leader knows.",
              s -> s.registry().silenceSeconds()),
          gauge(
              "eventbus_load_ratio",
              "Smoothed load of this bus: 1 is all that it can do, see `balance.high-percent`.",
              s -> s.balance().load()),
          gauge(
              "eventbus_overloaded",
              "1 while this bus is overloaded, else 0.",
              s -> s.balance().overloaded() ? 1 : 0),
          gauge(
              "eventbus_draining",
              "1 while this bus moves all of its clients to others, else 0.",
              s -> s.balance().draining() ? 1 : 0),
          gauge(
              "eventbus_moving_clients",
              "Clients that were asked to move and have not answered.",
              s -> s.balance().moving()),
          counters(
              "eventbus_moves_total",
              "result",
              "Clients that were asked to move: `moved`, `stayed`, or `expired` (closed because"
                  + " they took too long).",
              BusMetric::moves),
          counters(
              "eventbus_reservations_total",
              "result",
              "Clients that other buses wanted to move here: `granted` or `refused`.",
              BusMetric::reservations),
          gauges(
              "eventbus_federation_lanes",
              "state",
              "Links for events that this bus opens to others, one for each event loop and bus,"
                  + " by state.",
              s -> Map.of("up", s.federation().lanesUp(), "down", s.federation().lanesDown())),
          gauge(
              "eventbus_federation_queue_bytes",
              "Bytes of events that wait for other buses, or for their acknowledgement.",
              s -> s.federation().queuedBytes()),
          counter(
              "eventbus_federation_sent_events_total",
              "Events sent to other buses, including relayed ones.",
              s -> s.federation().eventsSent()),
          counter(
              "eventbus_federation_sent_frames_total",
              "Frames of events sent to other buses.",
              s -> s.federation().framesSent()),
          counter(
              "eventbus_federation_sent_bytes_total",
              "Bytes of those frames.",
              s -> s.federation().bytesSent()),
          counter(
              "eventbus_federation_received_events_total",
              "Events received from other buses.",
              s -> s.federation().eventsReceived()),
          counters(
              "eventbus_federation_received_frames_total",
              "hops",
              "Frames of events received from other buses, by the number of links that they came"
                  + " by; 8 is 8 or more.",
              s -> byHops(s.federation().hops())),
          counter(
              "eventbus_federation_relayed_events_total",
              "Events received that this bus was to relay to further buses.",
              s -> s.federation().eventsRelayed()),
          counters(
              "eventbus_federation_lost_events_total",
              "reason",
              "Events that did not reach a bus that they were for, by reason. It does not count"
                  + " the subscribers that missed them.",
              s -> s.federation().lostByReason()),
          counters(
              "eventbus_federation_lost_events_by_bus_total",
              "bus",
              "The same by the bus, for buses that were abandoned or had restarted.",
              s -> s.federation().lostByBus()),
          counter(
              "eventbus_federation_connects_total",
              "Times that a link for events came up.",
              s -> s.federation().connects()),
          counter(
              "eventbus_federation_resent_frames_total",
              "Frames sent again after a link was cut.",
              s -> s.federation().resent()),
          gauge(
              "eventbus_federation_filters",
              "Filters and groups of this bus's clients in the subscription tables of other buses.",
              s -> s.federation().filters()),
          counter(
              "eventbus_federation_sync_timeouts_total",
              "Times that a `Confirm`, `Drained` or `Barrier` timed out waiting for another bus.",
              s -> s.federation().latePromises()),
          counter(
              "eventbus_federation_interest_mismatches_total",
              "Times that another bus's subscription table did not match its digest and was"
                  + " requested again.",
              s -> s.federation().mismatches()),
          gauge("eventbus_journals", "Journals of durable topics.", s -> s.durable().journals()),
          gauge(
              "eventbus_journal_bytes",
              "What the events of all journals take in the store, a few seconds ago.",
              s -> s.durable().bytes()),
          gauge(
              "eventbus_journal_events",
              "Events in all journals, a few seconds ago.",
              s -> s.durable().events()),
          gauge(
              "eventbus_journal_subscriptions",
              "Durable subscriptions of all journals, a few seconds ago.",
              s -> s.durable().subscriptions()),
          gauge(
              "eventbus_journal_max_lag_positions",
              "Positions that the durable subscription furthest behind has not settled, a few"
                  + " seconds ago.",
              s -> s.durable().maxLag()),
          gauge(
              "eventbus_journal_pending_bytes",
              "Bytes of publications that wait for the disk.",
              s -> s.durable().pendingBytes()),
          counter(
              "eventbus_journal_confirmations_total",
              "`Publish` frames to durable topics that are stored, repetitions included.",
              s -> s.durable().confirmations()),
          counter(
              "eventbus_journal_late_settlements_total",
              "`Settle` frames for events that their consumers of shared subscriptions had no more.",
              s -> s.durable().lateSettlements()),
          counters(
              "eventbus_journal_refusals_total",
              "code",
              "`Publish` frames to durable topics that were refused, by code.",
              s -> s.durable().refusalsByCode()),
          gauge(
              "eventbus_shard_leader",
              "1 while this bus leads the replicas of the journals, else 0.",
              s -> s.durable().shardLeader()),
          gauge(
              "eventbus_shard_behind_entries",
              "Committed entries that the replica furthest behind does not know, as the leader"
                  + " knows; 0 at others.",
              s -> s.durable().shardBehindEntries()),
          gauges(
              "eventbus_tls_certificate_expiry_seconds",
              "use",
              "Time until the certificate in use expires, for clients (`listen`), other buses"
                  + " (`link`) or administration (`admin`); negative when expired.",
              BusStats::secondsToExpiry),
          new BusMetric(
              "eventbus_jwks_age_seconds",
              "gauge",
              "",
              JWKS_AGE_HELP,
              s -> gauges("eventbus_jwks_age_seconds", JWKS_AGE_HELP, age(s))));

  private static Map<String, Long> moves(BusStats stats) {
    BalanceStatus balance = stats.balance();
    return Map.of(
        "moved", balance.moved(), "stayed", balance.stayed(), "expired", balance.expired());
  }

  private static Map<String, Long> reservations(BusStats stats) {
    return Map.of("granted", stats.balance().arrived(), "refused", stats.balance().refused());
  }

  private static Map<Labels, Double> age(BusStats stats) {
    Double seconds = stats.jwksAgeSeconds();
    return seconds == null ? Map.of() : Map.of(Labels.EMPTY, seconds);
  }

  private static Map<String, Long> byHops(List<Long> frames) {
    Map<String, Long> labelled = new TreeMap<>();
    for (int i = 0; i < frames.size(); i++) {
      labelled.put(Integer.toString(i + 1), frames.get(i));
    }
    return labelled;
  }

  private static BusMetric gauges(
      String name, String label, String help, Function<BusStats, Map<String, Long>> values) {
    return new BusMetric(
        name, "gauge", label, help, s -> gauges(name, help, labelled(label, values.apply(s))));
  }

  private static Map<Labels, Double> labelled(String label, Map<String, Long> values) {
    Map<Labels, Double> samples = new TreeMap<>();
    values.forEach((key, v) -> samples.put(Labels.of(label, key), v.doubleValue()));
    return samples;
  }

  private static BusMetric gauge(String name, String help, ToDoubleFunction<BusStats> value) {
    return new BusMetric(
        name,
        "gauge",
        "",
        help,
        s -> gauges(name, help, Map.of(Labels.EMPTY, value.applyAsDouble(s))));
  }

  private static BusMetric counter(String name, String help, ToDoubleFunction<BusStats> value) {
    return new BusMetric(
        name,
        "counter",
        "",
        help,
        s -> counts(name, help, Map.of(Labels.EMPTY, value.applyAsDouble(s))));
  }

  private static BusMetric counters(
      String name, String label, String help, Function<BusStats, Map<String, Long>> values) {
    return new BusMetric(
        name, "counter", label, help, s -> counts(name, help, labelled(label, values.apply(s))));
  }

  private static BusMetric loops(
      String name, String type, String help, ToDoubleFunction<BusStats.Loop> value) {
    return new BusMetric(
        name,
        type,
        "loop",
        help,
        s -> {
          Map<Labels, Double> samples =
              s.loops().stream()
                  .collect(
                      Collectors.toMap(l -> Labels.of("loop", l.name()), value::applyAsDouble));
          return type.equals("counter") ? counts(name, help, samples) : gauges(name, help, samples);
        });
  }

  private static BusMetric histogram(
      String name, String help, Function<BusStats, BusStats.Histogram> values) {
    return new BusMetric(name, "histogram", "", help, s -> histogram(name, help, values.apply(s)));
  }

  private static MetricSnapshot histogram(String name, String help, BusStats.Histogram values) {
    List<BusStats.Bucket> buckets = values.buckets();
    return HistogramSnapshot.builder()
        .name(name)
        .help(help)
        .dataPoint(
            HistogramDataPointSnapshot.builder()
                .classicHistogramBuckets(
                    ClassicHistogramBuckets.of(
                        buckets.stream().map(BusStats.Bucket::upperBoundSeconds).toList(),
                        buckets.stream().map(BusStats.Bucket::count).toList()))
                .sum(values.sumSeconds())
                .build())
        .build();
  }

  private static MetricSnapshot gauges(String name, String help, Map<Labels, Double> samples) {
    GaugeSnapshot.Builder builder = GaugeSnapshot.builder().name(name).help(help);
    samples.forEach(
        (labels, value) ->
            builder.dataPoint(
                GaugeDataPointSnapshot.builder().labels(labels).value(value).build()));
    return builder.build();
  }

  private static MetricSnapshot counts(String name, String help, Map<Labels, Double> samples) {
    // The library adds the suffix again when it prints.
    String base = name.substring(0, name.length() - "_total".length());
    CounterSnapshot.Builder builder = CounterSnapshot.builder().name(base).help(help);
    samples.forEach(
        (labels, value) ->
            builder.dataPoint(
                CounterDataPointSnapshot.builder().labels(labels).value(value).build()));
    return builder.build();
  }
}
