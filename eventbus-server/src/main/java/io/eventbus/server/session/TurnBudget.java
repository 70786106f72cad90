package io.eventbus.server.session;

/**
 * How much work the clients of one loop may still cause in this turn of it. One message can hold a
 * great many small frames, each for a great many subscribers; whoever has used the turn up goes on
 * in a later one, so that the others' frames, writes and deadlines come in between. Confined to the
 * loop.
 */
public final class TurnBudget {
  /** Frames, and hand-overs of a frame to a subscriber: a millisecond or so. */
  private static final int UNITS = 8192;

  private int left = UNITS;

  /** Makes a budget that is not used yet. */
  public TurnBudget() {}

  /**
   * Notes work.
   *
   * @param units frames handled, or subscribers that one was given to
   */
  public void spend(int units) {
    left -= units;
  }

  /**
   * Says whether the turn is used up.
   *
   * @return true until {@link #renew}
   */
  public boolean isSpent() {
    return left <= 0;
  }

  /** A new turn begins. */
  public void renew() {
    left = UNITS;
  }
}
