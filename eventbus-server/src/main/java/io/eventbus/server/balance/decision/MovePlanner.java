package io.eventbus.server.balance.decision;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Step-by-step plan of which client should move where: puts the parts together. It is told of
 * events and acts on nothing itself, so that a simulation can use it. For one thread.
 *
 * <p>A plan is a request to the target first, and only the granted part of it is moved. A bus that
 * has refused is left alone for a while.
 */
public final class MovePlanner {
  /** Maximum of clients in one request; more are requested with the next. */
  public static final int MAX_CLIENTS = 500;

  /** Margin below the mark, or the smoothed load would take for ever to get there. */
  private static final double MARGIN = 0.95;

  /** Maximum factor of the configured rate, at which a fully loaded bus sends clients away. */
  private static final double MAX_HURRY = 4;

  /** Maximum of buses that are asked together. */
  private static final int MAX_TARGETS = 8;

  /**
   * Part of a second's moves that each bus is asked to take at least, if there is so much to move.
   */
  private static final double MIN_PORTION = 0.125;

  /** Part of a second's moves that may begin together, and of clients of whole topics together. */
  private static final double AT_ONCE = 0.5;

  /**
   * Load at which a bus is as good as fully loaded, so that any number of its clients may be moved.
   */
  private static final double FULL = 0.95;

  /**
   * Part of its clients that such a bus asks one bus to take singly, however much each of them
   * does.
   */
  private static final double UNKNOWN_PORTION = 0.05;

  /** Part of its clients if only one bus takes clients at all. */
  private static final double UNKNOWN_ALONE = 0.1;

  /**
   * Time that such a target is left alone until it sees the load of the clients that it has taken.
   */
  private static final long REST_NANOS = Duration.ofSeconds(1).toNanos();

  private final Settings settings;
  private final long refusalPauseNanos;
  private final OverloadDetector detector;
  private final LoadCredit departed;
  private final MovePace pace;
  private final MovePace emptying;
  private final TargetChooser targets;
  private final Map<String, Long> refusedAt = new HashMap<>();
  private final Map<String, Long> givenAt = new HashMap<>();

  /**
   * Settings of the operator.
   *
   * @param sustain how long it must have been overloaded
   * @param movesPerSecond how many clients may begin to move in a second
   */
  public record Settings(
      double high,
      double low,
      Duration sustain,
      Duration smoothing,
      int movesPerSecond,
      Duration refusalPause) {}

  /**
   * Load of the bus.
   *
   * @param underWay the part of the load of clients that have been asked to move, whether they have
   *     gone by now or not
   */
  public record Fullness(double smoothed, double recent, double underWay) {
    /**
     * Returns the load that stays when those who were asked have gone. The smoothed load, less what
     * was moved, would do if a bus knew its whole demand: a bus with more demand than it can serve
     * has just as much to do when some have gone.
     */
    double left(double departed) {
      return Math.max(smoothed - departed, recent - underWay);
    }
  }

  /**
   * Request to a target.
   *
   * @param target bus that is asked
   */
  public record Plan(MoveTarget target, List<ClientLoad> clients) {
    /** Copies the clients, so that the record is immutable. */
    public Plan {
      clients = List.copyOf(clients);
    }

    /** Returns the load that it would move, as a share of a bus's capacity. */
    public double load() {
      return clients.stream().mapToDouble(ClientLoad::load).sum();
    }
  }

  /** Creates a planner for a bus that is not overloaded. */
  public MovePlanner(Settings settings, String zone, RandomGenerator random) {
    this.settings = settings;
    this.refusalPauseNanos = settings.refusalPause().toNanos();
    this.detector = new OverloadDetector(settings.high(), settings.low(), settings.sustain());
    this.departed = new LoadCredit(settings.smoothing());
    this.pace = new MovePace(settings.movesPerSecond(), settings.movesPerSecond() * AT_ONCE);
    // A few at a time, because those that move together make each other wait.
    this.emptying = new MovePace(settings.movesPerSecond(), settings.movesPerSecond() / 20.0);
    this.targets = new TargetChooser(zone, random);
  }

  /**
   * Plans the moves of an overloaded bus. The fuller it is, the more may move together; they are
   * spread over several buses then, because their demand may be more than this bus has been able to
   * serve.
   *
   * @param clients supplies all clients; not called when there is no need to
   * @param nowNanos as {@link System#nanoTime}
   * @return requests, of each bus once; empty if no client should move now
   */
  public List<Plan> relieve(
      Fullness load,
      Supplier<? extends Collection<ClientLoad>> clients,
      Collection<MoveTarget> buses,
      long nowNanos) {
    int max = pace.available(nowNanos, hurry(load.recent()));
    double left = load.left(departed.value(nowNanos));
    // Below the upper edge of the aim: a bus that stops just there is overloaded for as long as
    // the smoothed load takes to get to a mark that it only approaches.
    double aim = settings.low() * MARGIN;
    if (!detector.update(load.smoothed(), nowNanos) || left <= aim || max == 0) {
      return List.of();
    }
    boolean full = load.recent() >= FULL;
    List<MoveTarget> usable =
        new ArrayList<>(
            buses.stream()
                .filter(
                    n ->
                        !isWithin(refusedAt, n.bus(), refusalPauseNanos, nowNanos)
                            && n.load() < settings.low())
                .filter(n -> !full || !isWithin(givenAt, n.bus(), REST_NANOS, nowNanos))
                .toList());
    List<Plan> plans = new ArrayList<>();
    Collection<ClientLoad> stay = null;
    int portion = portion(max, usable.size());
    int together = Math.max(portion, bounded(settings.movesPerSecond() * AT_ONCE));
    while (left > aim && max > 0 && plans.size() < MAX_TARGETS) {
      double before = left;
      MoveTarget target = targets.choose(usable, n -> n.load() < before);
      if (target == null) {
        break;
      }
      // A near one that has no room does not keep them from going farther.
      usable.remove(target);
      if (stay == null) {
        stay = clients.get();
        if (full) {
          double share = buses.size() > 1 ? UNKNOWN_PORTION : UNKNOWN_ALONE;
          portion = Math.min(portion, (int) Math.ceil(stay.size() * share));
        }
      }
      // Afterwards the target must not have more to do than this bus.
      double room = Math.min(settings.low() - target.load(), (left - target.load()) / 2);
      List<ClientLoad> chosen =
          MoveChooser.choose(
              stay, left - aim, room, Math.min(max, together), Math.min(max, portion));
      if (!chosen.isEmpty()) {
        Plan plan = new Plan(target, chosen);
        plans.add(plan);
        left -= plan.load();
        max -= chosen.size();
        Set<Long> going = new HashSet<>();
        chosen.forEach(client -> going.add(client.connection()));
        stay = stay.stream().filter(client -> !going.contains(client.connection())).toList();
      }
    }
    return plans;
  }

  /** Returns whether something was noted of a bus so short a time ago. */
  private static boolean isWithin(Map<String, Long> noted, String bus, long nanos, long nowNanos) {
    Long at = noted.get(bus);
    return at != null && nowNanos - at < nanos;
  }

  /** Notes something of a plan's target, and forgets notes that are too old to matter. */
  private static void note(Map<String, Long> noted, Plan plan, long nanos, long nowNanos) {
    noted.values().removeIf(at -> nowNanos - at >= nanos);
    noted.put(plan.target().bus(), nowNanos);
  }

  /**
   * Returns the factor of the configured rate: the higher, the further the load is beyond the upper
   * mark.
   */
  private double hurry(double load) {
    double beyond = (load - settings.high()) / Math.max(1e-3, 1 - settings.high());
    return 1 + (MAX_HURRY - 1) * Math.max(0, Math.min(1, beyond));
  }

  private int portion(int max, int buses) {
    int asked = Math.max(1, Math.min(MAX_TARGETS, buses));
    int each = (max + asked - 1) / asked;
    return bounded(Math.max(each, settings.movesPerSecond() * MIN_PORTION));
  }

  /** Bounds a request: a bus does not understand a larger one. */
  private static int bounded(double clients) {
    return (int) Math.max(1, Math.min(MAX_CLIENTS, clients));
  }

  /**
   * Plans the next moves of a bus that is about to end.
   *
   * @param nowNanos as {@link System#nanoTime}
   * @return the request; nothing if no client can move now
   */
  public Optional<Plan> empty(
      List<ClientLoad> clients, Collection<MoveTarget> buses, long nowNanos) {
    int max = Math.min(emptying.available(nowNanos), clients.size());
    if (max <= 0) {
      return Optional.empty();
    }
    MoveTarget target =
        targets.choose(buses, n -> !isWithin(refusedAt, n.bus(), refusalPauseNanos, nowNanos));
    return target == null
        ? Optional.empty()
        : Optional.of(new Plan(target, clients.subList(0, max)));
  }

  /**
   * Notes what the target has granted.
   *
   * @param nowNanos as {@link System#nanoTime}
   */
  public void granted(Plan plan, int granted, long nowNanos) {
    pace.take(granted);
    emptying.take(granted);
    if (granted < plan.clients().size()) {
      note(refusedAt, plan, refusalPauseNanos, nowNanos);
    }
    if (granted > 0) {
      note(givenAt, plan, REST_NANOS, nowNanos);
    }
    double load = 0;
    for (ClientLoad client : plan.clients().subList(0, granted)) {
      load += client.load();
    }
    departed.add(load, nowNanos);
  }

  /**
   * Notes a client that did not move.
   *
   * @param load its share
   * @param nowNanos as {@link System#nanoTime}
   */
  public void stayed(double load, long nowNanos) {
    departed.add(-load, nowNanos);
  }

  /** Returns what {@link #relieve} found last. */
  public boolean isOverloaded() {
    return detector.isOverloaded();
  }
}
