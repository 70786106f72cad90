package io.eventbus.server.admin;

import java.util.List;

/**
 * How a bus is.
 *
 * @param state what it is doing
 * @param reasons why it is not {@link State#UP}, for people; empty when it is
 */
public record BusHealth(State state, List<String> reasons) {
  /** Copies the list, so that the record is immutable. */
  public BusHealth {
    reasons = List.copyOf(reasons);
  }

  /** What a bus is doing. */
  public enum State {
    /** Not yet listening. */
    STARTING,
    /** Serving clients. */
    UP,
    /** Takes no new clients and delivers what is queued. */
    DRAINING,
    /** Cannot serve, and will not recover by itself. */
    FAILED
  }
}
