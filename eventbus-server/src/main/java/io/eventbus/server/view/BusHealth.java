package io.eventbus.server.view;

import io.eventbus.server.cluster.MembershipStatus;
import java.util.ArrayList;
import java.util.List;

/**
 * Health of a bus.
 *
 * @param reasons why it is not {@link State#UP}, for people; empty when it is
 */
public record BusHealth(State state, List<String> reasons, MembershipStatus registry) {
  /** Copies the list, so that the record is immutable. */
  public BusHealth {
    reasons = List.copyOf(reasons);
  }

  /** Creates the health of a bus that does not serve. */
  public static BusHealth of(State state, String reason, MembershipStatus registry) {
    return new BusHealth(state, List.of(reason), registry);
  }

  /**
   * Creates the health of a bus that serves clients: it is UP when nothing is wrong and the
   * registry has come to know it. That the registry cannot be reached now is no reason to leave it.
   */
  public static BusHealth serving(List<String> problems, MembershipStatus registry) {
    List<String> reasons = new ArrayList<>(problems);
    if (registry.phase() != MembershipStatus.Phase.MEMBER) {
      reasons.add("registry: " + registry.detail());
    }
    boolean failed = !problems.isEmpty() || registry.phase() == MembershipStatus.Phase.FAILED;
    State other = reasons.isEmpty() ? State.UP : State.STARTING;
    return new BusHealth(failed ? State.FAILED : other, reasons, registry);
  }

  /** State of a bus. */
  public enum State {
    /** Is not yet listening, or not yet in its cluster. */
    STARTING,
    /** Serves clients. */
    UP,
    /** Takes no new clients and delivers what is queued. */
    DRAINING,
    /** Cannot serve, and will not recover by itself. */
    FAILED
  }
}
