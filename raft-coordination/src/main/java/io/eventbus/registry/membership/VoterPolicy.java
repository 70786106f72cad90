package io.eventbus.registry.membership;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.RegistrySnapshot;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Policy that chooses the voters, one step at a time. Pure; any thread may use it.
 *
 * <p>Alive is a voter that is JOINING, UP or DRAINING, and the leader. The spare of a set of voters
 * is how many of those that are alive may still fail before there is no majority. The rule that
 * keeps automation from harm: <em>no step leaves less to spare than there was, and none is taken
 * without a majority alive</em>. Under it, in this order:
 *
 * <ol>
 *   <li>a voter that has been DOWN for long, or is removed, gives its vote to a bus that is UP; if
 *       there is none, it only loses it;
 *   <li>while there are fewer voters than wanted, a bus that is UP gets a vote;
 *   <li>if there are more voters than wanted, one that does not lead loses its vote, first one that
 *       is DRAINING;
 *   <li>a voter that is DRAINING gives its vote to a bus that is UP, if there is one; the leader
 *       hands over the leadership first;
 *   <li>voters are spread over the zones: a vote moves from a zone with at least two more votes.
 * </ol>
 */
public final class VoterPolicy {
  private final int wanted;
  private final long replaceAfterMillis;

  /**
   * Creates a policy.
   *
   * @param wanted the wanted number of voters, at least 1
   * @param replaceAfterMillis how long a voter's lease must have run out before it is replaced, in
   *     milliseconds, not negative
   * @throws IllegalArgumentException if a value is out of its range
   */
  public VoterPolicy(int wanted, long replaceAfterMillis) {
    if (wanted < 1 || replaceAfterMillis < 0) {
      throw new IllegalArgumentException(
          "wanted: " + wanted + ", replaceAfterMillis: " + replaceAfterMillis);
    }
    this.wanted = wanted;
    this.replaceAfterMillis = replaceAfterMillis;
  }

  /**
   * Present members and buses.
   *
   * @param listeners the buses that only follow
   */
  public record Situation(
      String leader,
      List<String> voters,
      List<String> listeners,
      RegistrySnapshot snapshot,
      long nowMillis) {
    /** Copies the lists. */
    public Situation {
      Objects.requireNonNull(leader, "leader");
      Objects.requireNonNull(snapshot, "snapshot");
      voters = List.copyOf(voters);
      listeners = List.copyOf(listeners);
    }
  }

  /**
   * Single change.
   *
   * @param out the bus that loses its vote; null for none
   * @param in the bus that gets a vote; null for none
   */
  public record Step(@Nullable String out, @Nullable String in, boolean handOver) {
    /** Describes the change. */
    public String describe() {
      String what =
          out == null
              ? "bus " + in + " is to get a vote"
              : in == null
                  ? "bus " + out + " is to lose its vote"
                  : "bus " + in + " is to get the vote of bus " + out;
      return handOver ? what + ", which hands over the leadership first" : what;
    }
  }

  /**
   * Finds the next step.
   *
   * @return the step, or null if everything is as it should be, or has to wait
   */
  public @Nullable Step next(Situation situation) {
    if (spare(situation, situation.voters()) < 0) {
      return null;
    }
    String gone = find(situation, this::isGone);
    if (gone != null) {
      return new Step(gone, candidate(situation, gone), false);
    }
    if (situation.voters().size() < wanted) {
      String in = candidate(situation, null);
      return in == null ? null : new Step(null, in, false);
    }
    if (situation.voters().size() > wanted) {
      return fewer(situation);
    }
    String draining = find(situation, (s, bus) -> state(s, bus) == BusState.DRAINING);
    if (draining != null) {
      String in = candidate(situation, draining);
      if (in != null) {
        return new Step(draining, in, draining.equals(situation.leader()));
      }
    }
    return spread(situation);
  }

  /**
   * Returns whether a bus that is DRAINING and does not lead will lose its vote by the next steps.
   *
   * @return true if it votes and another bus can take the vote, or there are more voters than
   *     wanted; a bus that is just being given a vote is no listener for a moment, and counts
   */
  public boolean isVoteTaken(Situation situation, String bus) {
    return situation.voters().contains(bus)
        && spare(situation, situation.voters()) >= 0
        && (situation.voters().size() > wanted
            || situation.snapshot().buses().stream()
                .anyMatch(
                    other ->
                        other.state() == BusState.UP
                            && !situation.voters().contains(other.id().value())));
  }

  int wanted() {
    return wanted;
  }

  /**
   * Returns the bus that is to lose its vote so that another one gets it; null if there are fewer
   * voters than wanted, or only the leader votes.
   */
  @Nullable String outFor(Situation situation, String in) {
    if (situation.voters().size() < wanted) {
      return null;
    }
    Map<String, Integer> votes = votes(situation);
    votes.merge(zone(situation, in), 1, Integer::sum);
    return situation.voters().stream()
        .filter(bus -> !bus.equals(situation.leader()))
        .min(
            Comparator.comparing((String bus) -> isAlive(situation, bus))
                .thenComparing(bus -> state(situation, bus) != BusState.DRAINING)
                .thenComparing(bus -> -votes.getOrDefault(zone(situation, bus), 0))
                .thenComparing(Comparator.reverseOrder()))
        .orElse(null);
  }

  /**
   * Returns how many more voters may fail before there is no majority.
   *
   * @return the number; negative if there is no majority
   */
  public static int spare(Situation situation, List<String> voters) {
    int alive = 0;
    for (String voter : voters) {
      if (isAlive(situation, voter)) {
        alive++;
      }
    }
    return alive - (voters.size() / 2 + 1);
  }

  private interface Test {
    boolean holds(Situation situation, String bus);
  }

  private static @Nullable String find(Situation situation, Test test) {
    return situation.voters().stream()
        .sorted()
        .filter(bus -> test.holds(situation, bus))
        .findFirst()
        .orElse(null);
  }

  private boolean isGone(Situation situation, String bus) {
    if (isAlive(situation, bus)) {
      return false;
    }
    BusInfo info = situation.snapshot().bus(new BusId(bus));
    return info == null
        || situation.nowMillis() - info.lease().expiresAtMillis() >= replaceAfterMillis;
  }

  static boolean isAlive(Situation situation, String bus) {
    BusState state = state(situation, bus);
    return bus.equals(situation.leader()) || (state != null && state != BusState.DOWN);
  }

  static @Nullable BusState state(Situation situation, String bus) {
    BusInfo info = situation.snapshot().bus(new BusId(bus));
    return info == null ? null : info.state();
  }

  /**
   * Returns the bus that is UP and whose zone has the fewest votes, when {@code out} has lost its.
   */
  static @Nullable String candidate(Situation situation, @Nullable String out) {
    Map<String, Integer> votes = votes(situation);
    if (out != null) {
      votes.merge(zone(situation, out), -1, Integer::sum);
    }
    return situation.listeners().stream()
        .filter(bus -> state(situation, bus) == BusState.UP)
        .min(
            Comparator.comparing((String bus) -> votes.getOrDefault(zone(situation, bus), 0))
                .thenComparing(Comparator.naturalOrder()))
        .orElse(null);
  }

  private static @Nullable Step fewer(Situation situation) {
    if (state(situation, situation.leader()) == BusState.DRAINING
        && situation.voters().stream().anyMatch(bus -> state(situation, bus) == BusState.UP)) {
      // Otherwise its successor would lose the vote that it was just given.
      return new Step(situation.leader(), null, true);
    }
    String out =
        situation.voters().stream()
            .filter(bus -> !bus.equals(situation.leader()))
            .min(
                Comparator.comparing((String bus) -> state(situation, bus) != BusState.DRAINING)
                    .thenComparing(Comparator.reverseOrder()))
            .orElse(null);
    if (out == null) {
      return null;
    }
    List<String> left = situation.voters().stream().filter(bus -> !bus.equals(out)).toList();
    return spare(situation, left) < spare(situation, situation.voters())
        ? null
        : new Step(out, null, false);
  }

  private @Nullable Step spread(Situation situation) {
    Map<String, Integer> votes = votes(situation);
    String in = candidate(situation, null);
    if (in == null) {
      return null;
    }
    int few = votes.getOrDefault(zone(situation, in), 0);
    String out =
        situation.voters().stream()
            .filter(bus -> !bus.equals(situation.leader()))
            .filter(bus -> votes.getOrDefault(zone(situation, bus), 0) >= few + 2)
            .max(
                Comparator.comparing((String bus) -> votes.getOrDefault(zone(situation, bus), 0))
                    .thenComparing(Comparator.naturalOrder()))
            .orElse(null);
    return out == null ? null : new Step(out, in, false);
  }

  private static Map<String, Integer> votes(Situation situation) {
    Map<String, Integer> votes = new HashMap<>();
    for (String voter : situation.voters()) {
      votes.merge(zone(situation, voter), 1, Integer::sum);
    }
    return votes;
  }

  private static String zone(Situation situation, String bus) {
    BusInfo info = situation.snapshot().bus(new BusId(bus));
    return info == null ? "" : info.description().zone();
  }
}
