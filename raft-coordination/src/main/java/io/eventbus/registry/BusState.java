package io.eventbus.registry;

/**
 * States of one life of a bus.
 *
 * <pre>
 *   register --&gt; JOINING --&gt; UP &lt;--&gt; DRAINING
 *                   |         |         |
 *                   +---------+---------+--&gt; DOWN
 * </pre>
 *
 * <p>DOWN ends a life. A bus that comes back registers again and so begins another life, with a
 * later epoch and a new number.
 */
public enum BusState {
  /** Registered and catching up; accepts no clients yet. */
  JOINING {
    @Override
    public boolean canBecome(BusState next) {
      return next == UP || next == DOWN;
    }
  },
  /** Accepting clients, and a target of forwarded messages. */
  UP {
    @Override
    public boolean canBecome(BusState next) {
      return next == DRAINING || next == DOWN;
    }
  },
  /** Moving its clients to other buses and accepting no new ones; an operator may undo this. */
  DRAINING {
    @Override
    public boolean canBecome(BusState next) {
      return next == UP || next == DOWN;
    }
  },
  /** Left, or its lease ran out. */
  DOWN {
    @Override
    public boolean canBecome(BusState next) {
      return false;
    }
  };

  /**
   * Returns whether a change of state is legal; to stay is no change.
   *
   * @param next the new state
   * @return true if a bus in this state may change to it within one life
   */
  public abstract boolean canBecome(BusState next);
}
