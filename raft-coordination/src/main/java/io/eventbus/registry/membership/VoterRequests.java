package io.eventbus.registry.membership;

import io.eventbus.registry.membership.VoterPolicy.Situation;
import io.eventbus.registry.membership.VoterPolicy.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Says what becomes of operators' wishes about who votes. Pure; any thread may use it.
 *
 * <p>The rule is {@link VoterPolicy}'s: no step leaves less to spare than there was, and none is
 * taken without a majority alive. A bus that leaves counts as gone already, because it will be.
 */
public final class VoterRequests {
  private VoterRequests() {}

  /**
   * What becomes of a wish.
   *
   * @param step what to do; null if the wish is refused. A step that neither gives nor takes a vote
   *     is one that nobody's vote depends on
   * @param refusal why not; null if there is a step
   */
  public record Answer(@Nullable Step step, @Nullable String refusal) {
    static Answer of(Step step) {
      return new Answer(Objects.requireNonNull(step, "step"), null);
    }

    static Answer refused(String why) {
      return new Answer(null, why);
    }
  }

  /**
   * A bus leaves for good.
   *
   * @param situation what there is
   * @param bus the bus
   * @return what to do about its vote, before it is taken out
   */
  public static Answer leave(Situation situation, String bus) {
    if (!situation.voters().contains(bus)) {
      return Answer.of(new Step(null, null, false));
    }
    if (bus.equals(situation.leader())) {
      return Answer.refused("bus " + bus + " leads (expected: that it has handed that over)");
    }
    String in = VoterPolicy.candidate(situation, bus);
    List<String> after = new ArrayList<>(situation.voters());
    after.remove(bus);
    if (in != null) {
      after.add(in);
    }
    if (VoterPolicy.spare(situation, situation.voters()) < 0) {
      return Answer.refused("there is no majority of the voters " + situation.voters() + " alive");
    }
    return VoterPolicy.spare(situation, after) < 0
        ? Answer.refused(
            "without bus " + bus + " there would be no majority of " + after + " alive")
        : Answer.of(new Step(bus, in, false));
  }
}
