package io.eventbus.server.balance.decision;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Choice of the clients to move: as few clients as possible, and those of a topic together, so that
 * the buses need not forward it between them afterwards. Stateless.
 *
 * <p>If one topic's clients are enough and find room, it is the topic with the fewest of them. Else
 * whole topics that fit are taken, the one with most load for each client first, and then single
 * clients, the heaviest first.
 */
public final class MoveChooser {
  private MoveChooser() {}

  private record Group(List<ClientLoad> clients, double load) {
    static Group of(List<ClientLoad> clients) {
      return new Group(clients, clients.stream().mapToDouble(ClientLoad::load).sum());
    }

    double each() {
      return load / clients.size();
    }
  }

  /**
   * Chooses clients.
   *
   * @param room the load that the other bus may be given
   * @param max maximum of clients
   * @param single maximum of clients in all, unless the first whole topic has more
   * @return the clients to move, those of a topic one after the other; perhaps none, perhaps less
   *     than the excess
   */
  public static List<ClientLoad> choose(
      Collection<ClientLoad> clients, double excess, double room, int max, int single) {
    if (excess <= 0 || max <= 0) {
      return List.of();
    }
    List<Group> groups = wholeTopics(clients);
    Group best =
        groups.stream()
            .filter(g -> g.load >= excess && g.load <= room && g.clients.size() <= max)
            .min(
                Comparator.<Group>comparingInt(g -> g.clients.size())
                    .thenComparingDouble(Group::load))
            .orElse(null);
    if (best != null) {
      return best.clients;
    }
    Selection selection = new Selection(excess, room);
    groups.sort(Comparator.comparingDouble(Group::each).reversed());
    // A single topic may exceed the usual maximum; many small ones, such as each client's own for
    // answers, are no better than single clients.
    groups.forEach(
        group ->
            selection.add(
                group.clients,
                selection.chosen.isEmpty() && group.clients.size() > 1 ? max : single));
    clients.stream()
        .filter(ClientLoad::movable)
        .sorted(Comparator.comparingDouble(ClientLoad::load).reversed())
        .forEach(client -> selection.add(List.of(client), single));
    return List.copyOf(selection.chosen);
  }

  /** Returns the clients of each topic that has no client which must stay. */
  private static List<Group> wholeTopics(Collection<ClientLoad> clients) {
    Map<String, List<ClientLoad>> byTopic = new LinkedHashMap<>();
    for (ClientLoad client : clients) {
      for (String topic : client.topics()) {
        byTopic.computeIfAbsent(topic, t -> new ArrayList<>()).add(client);
      }
    }
    List<Group> groups = new ArrayList<>();
    for (List<ClientLoad> ofTopic : byTopic.values()) {
      if (ofTopic.stream().allMatch(ClientLoad::movable)) {
        groups.add(Group.of(ofTopic));
      }
    }
    return groups;
  }

  /** Clients that are chosen so far. */
  private static final class Selection {
    private final double excess;
    private final double room;
    private final Set<ClientLoad> chosen = new LinkedHashSet<>();
    private double load;

    Selection(double excess, double room) {
      this.excess = excess;
      this.room = room;
    }

    /** Adds all of them if there is need and room, or none. */
    void add(List<ClientLoad> clients, int max) {
      List<ClientLoad> fresh = clients.stream().filter(c -> !chosen.contains(c)).toList();
      double more = fresh.stream().mapToDouble(ClientLoad::load).sum();
      if (load < excess && load + more <= room && chosen.size() + fresh.size() <= max) {
        chosen.addAll(fresh);
        load += more;
      }
    }
  }
}
