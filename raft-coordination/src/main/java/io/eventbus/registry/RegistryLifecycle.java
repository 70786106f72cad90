package io.eventbus.registry;

/**
 * States of a {@link Registry} in this process.
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
  /** Created, not started: accepts listeners, but no commands. */
  NEW {
    @Override
    public boolean canBecome(RegistryLifecycle next) {
      return next == STARTING || next == CLOSED;
    }
  },
  /** Reading its stored state and looking for the others. */
  STARTING {
    @Override
    public boolean canBecome(RegistryLifecycle next) {
      return next == RUNNING || next == CLOSING || next == FAILED;
    }
  },
  /** Accepting commands. */
  RUNNING {
    @Override
    public boolean canBecome(RegistryLifecycle next) {
      return next == CLOSING || next == FAILED;
    }
  },
  /** Accepting no more commands and answering those that wait. */
  CLOSING {
    @Override
    public boolean canBecome(RegistryLifecycle next) {
      return next == CLOSED;
    }
  },
  /** Closed and released; the last snapshot can still be read. */
  CLOSED {
    @Override
    public boolean canBecome(RegistryLifecycle next) {
      return false;
    }
  },
  /** Stopped by an error of its own; it can only be closed. */
  FAILED {
    @Override
    public boolean canBecome(RegistryLifecycle next) {
      return next == CLOSING;
    }
  };

  /**
   * Returns whether a change of state is legal; to stay is no change.
   *
   * @param next the next state
   * @return true if it may follow this one
   */
  public abstract boolean canBecome(RegistryLifecycle next);

  /**
   * Returns the error for commands, which a registry in this state does not accept.
   *
   * @return the error for a refused command
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
