package io.eventbus.server.balance;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Decides, step by step, who should go where: puts the parts together. It is told what happens and
 * does nothing itself, so that a simulation can use it. For one thread.
 *
 * <p>A plan is asked for at the target first, and only what that grants is moved. A bus that has
 * refused is left alone for a while.
 */
public final class MovePlanner {
  /** A little below the mark, or the smoothed load would take for ever to get there. */
  private static final double MARGIN = 0.95;

  private final Settings settings;
  private final OverloadDetector detector;
  private final LoadCredit departed;
  private final Pace pace;
  private final Pace emptying;
  private final TargetChooser targets;
  private final Map<String, Long> refusedAt = new HashMap<>();

  /**
   * What an operator decides.
   *
   * @param high above it a bus is overloaded
   * @param low to which it brings itself
   * @param sustain how long it must have been overloaded
   * @param smoothing of the load
   * @param movesPerSecond how many clients may begin to move in a second
   * @param refusalPause how long a bus that refused is left alone
   */
  public record Settings(
      double high,
      double low,
      Duration sustain,
      Duration smoothing,
      int movesPerSecond,
      Duration refusalPause) {}

  /**
   * What to ask for.
   *
   * @param target where to
   * @param clients who, in the order in which they should go
   */
  public record Plan(Neighbour target, List<ClientLoad> clients) {
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

  /**
   * Makes a planner for a bus that is not overloaded.
   *
   * @param settings what an operator decides
   * @param zone of this bus
   * @param random for the choice of targets
   */
  public MovePlanner(Settings settings, String zone, RandomGenerator random) {
    this.settings = settings;
    this.detector = new OverloadDetector(settings.high(), settings.low(), settings.sustain());
    this.departed = new LoadCredit(settings.smoothing());
    this.pace = new Pace(settings.movesPerSecond(), settings.movesPerSecond() / 2.0);
    // A few at a time, because those that move together make each other wait.
    this.emptying = new Pace(settings.movesPerSecond(), settings.movesPerSecond() / 20.0);
    this.targets = new TargetChooser(zone, random);
  }

  /**
   * Says whether the bus is overloaded, and whom to move if it is.
   *
   * @param load the smoothed load of this bus
   * @param clients gives all clients; not asked when there is no need to
   * @param neighbours buses that are UP, with the load that they told
   * @param nowNanos as {@link System#nanoTime}
   * @return what to ask for; nothing if nobody should move now
   */
  public Optional<Plan> relieve(
      double load,
      Supplier<? extends Collection<ClientLoad>> clients,
      Collection<Neighbour> neighbours,
      long nowNanos) {
    double left = load - departed.value(nowNanos);
    int most = pace.available(nowNanos);
    // Not only down to the upper edge of what is aimed at: a bus that stops just there is
    // overloaded
    // for as long as the smoothed load takes to get to a mark that it only approaches.
    double excess = left - settings.low() * MARGIN;
    if (!detector.update(load, nowNanos) || excess <= 0 || most == 0) {
      return Optional.empty();
    }
    Collection<ClientLoad> all = null;
    List<Neighbour> full = new ArrayList<>();
    while (true) {
      Neighbour target =
          targets.choose(
              neighbours,
              n ->
                  !isShunned(n, nowNanos)
                      && n.load() < settings.low()
                      && n.load() < left
                      && !full.contains(n));
      if (target == null) {
        return Optional.empty();
      }
      if (all == null) {
        all = clients.get();
      }
      // Afterwards the target must not have more to do than this bus.
      double room = Math.min(settings.low() - target.load(), (left - target.load()) / 2);
      List<ClientLoad> chosen = MoveChooser.choose(all, excess, room, most);
      if (!chosen.isEmpty()) {
        return Optional.of(new Plan(target, chosen));
      }
      // A near one that has room for nobody does not keep them from going farther.
      full.add(target);
    }
  }

  /**
   * Says where the next clients of a bus go that is about to end.
   *
   * @param clients those that are still to go, in any order
   * @param neighbours buses that are UP
   * @param nowNanos as {@link System#nanoTime}
   * @return what to ask for; nothing if nobody can go now
   */
  public Optional<Plan> empty(
      List<ClientLoad> clients, Collection<Neighbour> neighbours, long nowNanos) {
    int most = Math.min(emptying.available(nowNanos), clients.size());
    if (most == 0) {
      return Optional.empty();
    }
    Neighbour target = targets.choose(neighbours, n -> !isShunned(n, nowNanos));
    return target == null
        ? Optional.empty()
        : Optional.of(new Plan(target, clients.subList(0, most)));
  }

  private boolean isShunned(Neighbour bus, long nowNanos) {
    Long at = refusedAt.get(bus.bus());
    return at != null && nowNanos - at < settings.refusalPause().toNanos();
  }

  /**
   * Takes note of what the target has granted.
   *
   * @param plan what was asked for
   * @param granted how many of its clients go
   * @param nowNanos as {@link System#nanoTime}
   */
  public void granted(Plan plan, int granted, long nowNanos) {
    pace.take(granted);
    emptying.take(granted);
    if (granted < plan.clients().size()) {
      refusedAt.values().removeIf(at -> nowNanos - at >= settings.refusalPause().toNanos());
      refusedAt.put(plan.target().bus(), nowNanos);
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

  /**
   * Says what {@link #relieve} found last.
   *
   * @return whether the bus is overloaded
   */
  public boolean isOverloaded() {
    return detector.isOverloaded();
  }
}
