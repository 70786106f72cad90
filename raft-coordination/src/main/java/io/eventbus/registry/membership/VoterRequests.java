package io.eventbus.registry.membership;

import io.eventbus.registry.BusState;
import io.eventbus.registry.membership.VoterPolicy.Situation;
import io.eventbus.registry.membership.VoterPolicy.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Rules for operators' requests about votes. Pure; any thread may use it.
 *
 * <p>The rule is {@link VoterPolicy}'s: no step leaves less to spare than there was, and none is
 * taken without a majority alive. A bus that leaves counts as gone already, because it will be. A
 * request that the policy would undo at once is refused too, and the refusal says so.
 */
public final class VoterRequests {
  private final VoterPolicy policy;

  /** Creates the rules that go with a policy. */
  public VoterRequests(VoterPolicy policy) {
    this.policy = Objects.requireNonNull(policy, "policy");
  }

  /**
   * Answer to a request.
   *
   * @param step the step to take; null if the request is refused. A step that neither gives nor
   *     takes a vote means that no vote has to change
   * @param refusal the reason of a refusal; null if there is a step
   */
  public record Answer(@Nullable Step step, @Nullable String refusal) {
    private static final Step NOTHING = new Step(null, null, false);

    static Answer nothing() {
      return new Answer(NOTHING, null);
    }

    static Answer refused(String why) {
      return new Answer(null, why);
    }
  }

  /**
   * Answers the request to make a listener a voter.
   *
   * @param insteadOf the bus that loses its vote; null for the choice of the policy
   */
  public Answer promote(Situation situation, String bus, @Nullable String insteadOf) {
    if (situation.voters().contains(bus)) {
      return Answer.nothing();
    }
    if (!situation.listeners().contains(bus)) {
      return Answer.refused(
          "bus " + bus + " is no member (expected: one of " + situation.listeners() + ")");
    }
    BusState state = VoterPolicy.state(situation, bus);
    if (state != BusState.UP) {
      return Answer.refused("bus " + bus + " is " + named(state) + " (expected: UP)");
    }
    if (insteadOf != null && !situation.voters().contains(insteadOf)) {
      return Answer.refused(
          "bus " + insteadOf + " has no vote (expected: one of " + situation.voters() + ")");
    }
    String out = insteadOf == null ? policy.outFor(situation, bus) : insteadOf;
    if (out != null && out.equals(situation.leader())) {
      return leads(out);
    }
    return checked(situation, new Step(out, bus, false));
  }

  /** Answers the request to make a voter a listener. */
  public Answer demote(Situation situation, String bus) {
    if (situation.listeners().contains(bus)) {
      return Answer.nothing();
    }
    if (!situation.voters().contains(bus)) {
      return Answer.refused(
          "bus " + bus + " has no vote (expected: one of " + situation.voters() + ")");
    }
    if (bus.equals(situation.leader())) {
      return leads(bus);
    }
    return checked(situation, new Step(bus, VoterPolicy.candidate(situation, bus), false));
  }

  /**
   * Answers the request to remove a bus that is not coming back.
   *
   * @param again whether it may have been removed already
   * @return the step for its vote, before it is removed
   */
  public Answer remove(Situation situation, String bus, boolean again) {
    BusState state = VoterPolicy.state(situation, bus);
    boolean votes = situation.voters().contains(bus);
    if (state == null && !votes && !situation.listeners().contains(bus)) {
      return again ? Answer.nothing() : Answer.refused("no bus is called " + bus);
    }
    if (bus.equals(situation.leader())) {
      return leads(bus);
    }
    if (state != null && state != BusState.DOWN) {
      return Answer.refused(
          "bus "
              + bus
              + " is "
              + state
              + " (expected: DOWN): stop it first, and wait until its lease has run out");
    }
    return votes ? gone(situation, bus) : Answer.nothing();
  }

  /**
   * Answers the request of a bus to leave for good.
   *
   * @return the step for its vote, before it is removed
   */
  public Answer leave(Situation situation, String bus) {
    if (!situation.voters().contains(bus)) {
      return Answer.nothing();
    }
    return bus.equals(situation.leader()) ? leads(bus) : gone(situation, bus);
  }

  private static Answer leads(String bus) {
    return Answer.refused(
        "bus " + bus + " leads (expected: that it hands the leadership to another voter first)");
  }

  /** Moves the vote of a voter that does not count any more to another one, or drops it. */
  private static Answer gone(Situation situation, String bus) {
    Step step = new Step(bus, VoterPolicy.candidate(situation, bus), false);
    Answer refused = withoutMajority(situation);
    if (refused != null) {
      return refused;
    }
    List<String> after = after(situation.voters(), step);
    return VoterPolicy.spare(situation, after) < 0
        ? Answer.refused(
            "without bus " + bus + " there would be no majority of " + after + " alive")
        : new Answer(step, null);
  }

  private Answer checked(Situation situation, Step step) {
    Answer refused = withoutMajority(situation);
    if (refused != null) {
      return refused;
    }
    List<String> voters = after(situation.voters(), step);
    int before = VoterPolicy.spare(situation, situation.voters());
    int after = VoterPolicy.spare(situation, voters);
    if (after < before) {
      return Answer.refused(
          "with the voters "
              + voters
              + " only "
              + Math.max(0, after)
              + " could fail (expected: "
              + before
              + ", as with "
              + situation.voters()
              + ")");
    }
    List<String> listeners = new ArrayList<>(situation.listeners());
    listeners.remove(step.in());
    if (step.out() != null) {
      listeners.add(step.out());
    }
    Step next =
        policy.next(
            new Situation(
                situation.leader(),
                voters,
                listeners,
                situation.snapshot(),
                situation.nowMillis()));
    boolean undone =
        next != null
            && ((step.out() != null && step.out().equals(next.in()))
                || (step.in() != null && step.in().equals(next.out())));
    return undone
        ? Answer.refused(
            "it would be undone at once, to have "
                + policy.wanted()
                + " voters that are UP and spread over the zones (expected: another bus for the"
                + " vote)")
        : new Answer(step, null);
  }

  private static @Nullable Answer withoutMajority(Situation situation) {
    return VoterPolicy.spare(situation, situation.voters()) < 0
        ? Answer.refused("no majority of the voters " + situation.voters() + " is alive")
        : null;
  }

  private static List<String> after(List<String> voters, Step step) {
    List<String> after = new ArrayList<>(voters);
    after.remove(step.out());
    if (step.in() != null) {
      after.add(step.in());
    }
    return after;
  }

  private static String named(@Nullable BusState state) {
    return state == null ? "not registered" : state.name();
  }
}
