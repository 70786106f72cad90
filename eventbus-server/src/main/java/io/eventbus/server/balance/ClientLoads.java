package io.eventbus.server.balance;

import io.eventbus.server.balance.decision.ClientLoad;
import io.eventbus.server.balance.decision.MoveHistory;
import io.eventbus.server.session.Acknowledgements;
import io.eventbus.server.session.MoveTokens;
import io.eventbus.server.session.Session;
import io.eventbus.server.session.Sessions;
import io.eventbus.server.subscription.RoutedSubscription;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Cost of each client: its part of the events since the last look, of the load of the bus. Two
 * clients belong together if they have a filter in common, or one has acknowledged events of the
 * other. For one thread; reads every session, so it is called only on demand.
 */
final class ClientLoads {
  private static final long MINUTE_NANOS = Duration.ofMinutes(1).toNanos();

  /** Maximum of topics of one client; more do not say more about the clients that it belongs to. */
  private static final int MAX_TOPICS = 32;

  /** Cost of an idle client: as one with an event in a second, because it has a connection. */
  private static final double IDLE_EVENTS = 1;

  private final Sessions sessions;
  private final Clock clock;
  private final MoveHistory history;
  private Map<Long, Long> counted = new HashMap<>();
  private long countedAt;

  ClientLoads(Sessions sessions, Clock clock, MoveHistory history) {
    this.sessions = sessions;
    this.clock = clock;
    this.history = history;
  }

  /**
   * Reads all clients.
   *
   * @param load of the bus, to be shared out
   */
  List<ClientLoad> read(double load, boolean leaving, long nowNanos) {
    boolean fresh = !counted.isEmpty() && nowNanos - countedAt < MINUTE_NANOS;
    double seconds = Math.max(1e-3, (nowNanos - countedAt) / 1e9);
    Map<Long, Long> counts = new HashMap<>();
    Map<Long, Double> weights = new HashMap<>();
    Map<Long, Set<String>> topics = new HashMap<>();
    Map<Long, Long> byProducer = new HashMap<>();
    List<Session> all = new ArrayList<>();
    double sum = 0;
    for (Session session : sessions.after(0)) {
      long number = session.identity().number();
      long events = session.published() + session.delivered();
      Long before = fresh ? counted.get(number) : null;
      double rate = before == null ? events / ageSeconds(session) : (events - before) / seconds;
      double weight = IDLE_EVENTS + Math.max(0, rate);
      counts.put(number, events);
      weights.put(number, weight);
      sum += weight;
      byProducer.put(session.producer(), number);
      all.add(session);
    }
    counted = counts;
    countedAt = nowNanos;
    all.forEach(session -> collectTopics(session, byProducer, topics));
    List<ClientLoad> clients = new ArrayList<>(all.size());
    for (Session session : all) {
      long number = session.identity().number();
      double share = weights.getOrDefault(number, 0.0) / Math.max(sum, 1e-9) * load;
      long arrived = nowNanos - (long) (ageSeconds(session) * 1e9);
      MoveTokens.Grant arrival = session.moveGrant();
      int hops = MoveHistory.hops(arrival == null ? 0 : arrival.hops(), arrived, nowNanos);
      clients.add(
          new ClientLoad(
              number,
              session.producer(),
              share,
              topics.getOrDefault(number, Set.of()),
              hops,
              history.isMovable(session.producer(), hops, arrived, leaving, nowNanos)));
    }
    return clients;
  }

  private double ageSeconds(Session session) {
    return Math.max(
        1e-3, Duration.between(session.identity().since(), clock.instant()).toNanos() / 1e9);
  }

  private static void collectTopics(
      Session session, Map<Long, Long> byProducer, Map<Long, Set<String>> topics) {
    long number = session.identity().number();
    for (RoutedSubscription subscription : session.subscriptions().list()) {
      add(topics, number, subscription.filter().toString());
    }
    for (Acknowledgements.Stream stream : session.acknowledgements().latest().keySet()) {
      Long publisher = byProducer.get(stream.producer());
      if (publisher != null) {
        add(topics, number, stream.topic());
        add(topics, publisher, stream.topic());
      }
    }
  }

  private static void add(Map<Long, Set<String>> topics, long client, String topic) {
    Set<String> own = topics.computeIfAbsent(client, c -> new HashSet<>());
    if (own.size() < MAX_TOPICS) {
      own.add(topic);
    }
  }
}
