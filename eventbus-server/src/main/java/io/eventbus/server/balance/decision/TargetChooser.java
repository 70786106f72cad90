package io.eventbus.server.balance.decision;

import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Choice of the bus that clients move to: of two random ones the less loaded, from the same zone if
 * there is one. Two are enough to keep all about equally full, and random, so that buses that are
 * overloaded together do not all choose the same one (M. Mitzenmacher, "The Power of Two Choices in
 * Randomized Load Balancing", 2001).
 */
public final class TargetChooser {
  private final String zone;
  private final RandomGenerator random;

  /** Creates a chooser. */
  public TargetChooser(String zone, RandomGenerator random) {
    this.zone = zone;
    this.random = random;
  }

  /**
   * Chooses a target; null if there is none.
   *
   * @param usable whether a bus may be a target
   */
  public @Nullable MoveTarget choose(Collection<MoveTarget> buses, Predicate<MoveTarget> usable) {
    List<MoveTarget> all = buses.stream().filter(usable).toList();
    List<MoveTarget> near = all.stream().filter(n -> n.zone().equals(zone)).toList();
    List<MoveTarget> from = near.isEmpty() ? all : near;
    if (from.isEmpty()) {
      return null;
    }
    int first = random.nextInt(from.size());
    MoveTarget one = from.get(first);
    if (from.size() == 1) {
      return one;
    }
    MoveTarget other = from.get((first + 1 + random.nextInt(from.size() - 1)) % from.size());
    return other.load() < one.load() ? other : one;
  }
}
