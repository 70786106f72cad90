package io.eventbus.registry;

/**
 * The stations of one life of a bus.
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
  /** The bus is registered and catches up; it takes no clients yet. */
  JOINING {
    @Override
    public boolean canBecome(BusState next) {
      return next == UP || next == DOWN;
    }
  },
  /** The bus takes clients and is a target of forwarded messages. */
  UP {
    @Override
    public boolean canBecome(BusState next) {
      return next == DRAINING || next == DOWN;
    }
  },
  /** The bus sends its clients elsewhere and takes no new ones; an operator may take this back. */
  DRAINING {
    @Override
    public boolean canBecome(BusState next) {
      return next == UP || next == DOWN;
    }
  },
  /** The bus has left, or its lease ran out. */
  DOWN {
    @Override
    public boolean canBecome(BusState next) {
      return false;
    }
  };

  /**
   * Says whether a change of state is legal; to stay is no change.
   *
   * @param next the state that is asked for
   * @return true if a bus in this state may go there within one life
   */
  public abstract boolean canBecome(BusState next);
}
