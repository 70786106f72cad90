package io.eventbus.registry;

/**
 * The stations of a {@link Registry} in this process.
 *
 * <pre>
 *   NEW --&gt; STARTING --&gt; RUNNING --&gt; CLOSING --&gt; CLOSED
 *    |         |           |            ^          ^
 *    |         +-----------+--&gt; FAILED --+          |
 *    +---------------------------------------------+
 * </pre>
 *
 * <p>STARTING may also go to CLOSING.
 */
public enum RegistryLifecycle {
  /** Made, not started: it takes listeners, but no commands. */
  NEW {
    @Override
    public boolean canBecome(RegistryLifecycle next) {
      return next == STARTING || next == CLOSED;
    }
  },
  /** It reads what it stored and looks for the others. */
  STARTING {
    @Override
    public boolean canBecome(RegistryLifecycle next) {
      return next == RUNNING || next == CLOSING || next == FAILED;
    }
  },
  /** It takes commands. */
  RUNNING {
    @Override
    public boolean canBecome(RegistryLifecycle next) {
      return next == CLOSING || next == FAILED;
    }
  },
  /** It takes no more commands and answers those that wait. */
  CLOSING {
    @Override
    public boolean canBecome(RegistryLifecycle next) {
      return next == CLOSED;
    }
  },
  /** It has let everything go; the last snapshot can still be read. */
  CLOSED {
    @Override
    public boolean canBecome(RegistryLifecycle next) {
      return false;
    }
  },
  /** An error of its own has stopped it; it can only be closed. */
  FAILED {
    @Override
    public boolean canBecome(RegistryLifecycle next) {
      return next == CLOSING;
    }
  };

  /**
   * Says whether a change of station is legal; to stay is no change.
   *
   * @param next the station that is asked for
   * @return true if it may follow this one
   */
  public abstract boolean canBecome(RegistryLifecycle next);

  /**
   * Says why a registry at this station takes no commands.
   *
   * @return what a command is refused with
   */
  public RegistryException notRunning() {
    String message = "lifecycle: " + this + " (expected: RUNNING)";
    return switch (this) {
      case NEW, STARTING, RUNNING -> new RegistryUnavailableException(message);
      case FAILED -> new RegistryFailedException(message, false);
      case CLOSING, CLOSED -> new RegistryClosedException(message, false);
    };
  }
}
