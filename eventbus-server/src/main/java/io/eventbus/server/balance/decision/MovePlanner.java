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
 * Decides, step by step, which client should go where: puts the parts together. It is told what
 * happens and does nothing itself, so that a simulation can use it. For one thread.
 *
 * <p>A plan is asked for at the target first, and only what that grants is moved. A bus that has
 * refused is left alone for a while.
 */
public final class MovePlanner {
  /** How many clients one request may be for; more are asked for in the next. */
  public static final int MAX_CLIENTS = 500;

  /** A little below the mark, or the smoothed load would take for ever to get there. */
  private static final double MARGIN = 0.95;

  /** A bus that has all that it can do sends clients away so many times as fast as is set. */
  private static final double MAX_HURRY = 4;

  /** So many buses are asked together. */
  private static final int MAX_TARGETS = 8;

  /** Of a second's moves: what a bus is asked to take at least, where there is so much to go. */
  private static final double MIN_PORTION = 0.125;

  /** Of a second's moves: what may begin together, and so many clients of whole topics together. */
  private static final double AT_ONCE = 0.5;

  /**
   * A bus this full has as good as all that it can do, and may be asked for any number of times.
   */
  private static final double FULL = 0.95;

  /** Of its clients: what one bus is asked to take singly then, however much each of them does. */
  private static final double UNKNOWN_PORTION = 0.05;

  /** The same where only one bus takes clients at all. */
  private static final double UNKNOWN_ALONE = 0.1;

  /** So long a bus is left alone then until it sees what those do that it has taken. */
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
   * What an operator decides.
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
   * How full the bus is.
   *
   * @param underWay the part of that which clients made that have been asked to go, whether they
   *     have gone by now or not
   */
  public record Fullness(double smoothed, double recent, double underWay) {
    /**
     * Returns what stays when those who were asked have gone. The smoothed load, less what was
     * moved, would do if a bus knew how much it is asked for: one that is asked for more than it
     * can do has just as much to do when some have gone.
     */
    double left(double departed) {
      return Math.max(smoothed - departed, recent - underWay);
    }
  }

  /**
   * What to ask for.
   *
   * @param target where to
   */
  public record Plan(MoveTarget target, List<ClientLoad> clients) {
    /** Copies the clients, so that the record is immutable. */
    public Plan {
      clients = List.copyOf(clients);
    }

    /**
     * Returns what it would move.
     *
     * @return a share of a bus's capacity
     */
    public double load() {
      return clients.stream().mapToDouble(ClientLoad::load).sum();
    }
  }

  /** Makes a planner for a bus that is not overloaded. */
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
   * Says whether the bus is overloaded, and what to move if it is. The fuller it is, the more may
   * move together; they are spread over several buses then, because what they ask for may be more
   * than this bus has been able to do for them.
   *
   * @param clients gives all clients; not asked when there is no need to
   * @param nowNanos as {@link System#nanoTime}
   * @return what to ask for, of each bus once; empty if no client should move now
   */
  public List<Plan> relieve(
      Fullness load,
      Supplier<? extends Collection<ClientLoad>> clients,
      Collection<MoveTarget> buses,
      long nowNanos) {
    int most = pace.available(nowNanos, hurry(load.recent()));
    double left = load.left(departed.value(nowNanos));
    // Not only down to the upper edge of what is aimed at: a bus that stops just there is
    // overloaded for as long as the smoothed load takes to get to a mark that it only approaches.
    double aim = settings.low() * MARGIN;
    if (!detector.update(load.smoothed(), nowNanos) || left <= aim || most == 0) {
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
    int portion = portion(most, usable.size());
    int together = Math.max(portion, bounded(settings.movesPerSecond() * AT_ONCE));
    while (left > aim && most > 0 && plans.size() < MAX_TARGETS) {
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
              stay, left - aim, room, Math.min(most, together), Math.min(most, portion));
      if (!chosen.isEmpty()) {
        Plan plan = new Plan(target, chosen);
        plans.add(plan);
        left -= plan.load();
        most -= chosen.size();
        Set<Long> going = new HashSet<>();
        chosen.forEach(client -> going.add(client.connection()));
        stay = stay.stream().filter(client -> !going.contains(client.connection())).toList();
      }
    }
    return plans;
  }

  /** Whether something was noted of a bus so short a time ago. */
  private static boolean isWithin(Map<String, Long> noted, String bus, long nanos, long nowNanos) {
    Long at = noted.get(bus);
    return at != null && nowNanos - at < nanos;
  }

  /** Notes something of a plan's target, and forgets what was noted too long ago to matter. */
  private static void note(Map<String, Long> noted, Plan plan, long nanos, long nowNanos) {
    noted.values().removeIf(at -> nowNanos - at >= nanos);
    noted.put(plan.target().bus(), nowNanos);
  }

  /** How many times as fast as is set: the more, the more there is beyond the upper mark. */
  private double hurry(double load) {
    double beyond = (load - settings.high()) / Math.max(1e-3, 1 - settings.high());
    return 1 + (MAX_HURRY - 1) * Math.max(0, Math.min(1, beyond));
  }

  private int portion(int most, int buses) {
    int asked = Math.max(1, Math.min(MAX_TARGETS, buses));
    int each = (most + asked - 1) / asked;
    return bounded(Math.max(each, settings.movesPerSecond() * MIN_PORTION));
  }

  /** A bus does not understand a request for more. */
  private static int bounded(double clients) {
    return (int) Math.max(1, Math.min(MAX_CLIENTS, clients));
  }

  /**
   * Says where the next clients of a bus go that is about to end.
   *
   * @param nowNanos as {@link System#nanoTime}
   * @return what to ask for; nothing if no client can go now
   */
  public Optional<Plan> empty(
      List<ClientLoad> clients, Collection<MoveTarget> buses, long nowNanos) {
    int most = Math.min(emptying.available(nowNanos), clients.size());
    if (most <= 0) {
      return Optional.empty();
    }
    MoveTarget target =
        targets.choose(buses, n -> !isWithin(refusedAt, n.bus(), refusalPauseNanos, nowNanos));
    return target == null
        ? Optional.empty()
        : Optional.of(new Plan(target, clients.subList(0, most)));
  }

  /**
   * Takes note of what the target has granted.
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
   * Takes note of a client that did not go.
   *
   * @param load its share
   * @param nowNanos as {@link System#nanoTime}
   */
  public void stayed(double load, long nowNanos) {
    departed.add(-load, nowNanos);
  }

  /** Says what {@link #relieve} found last. */
  public boolean isOverloaded() {
    return detector.isOverloaded();
  }
}
