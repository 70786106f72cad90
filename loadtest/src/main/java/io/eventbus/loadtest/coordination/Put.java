package io.eventbus.loadtest.coordination;

import org.jspecify.annotations.Nullable;

/** Write that may take several attempts, one after the other. For one thread at a time. */
public final class Put {
  private final String register;
  private final String value;
  private volatile @Nullable Object identity;

  /** Creates a write. */
  public Put(String register, String value) {
    this.register = register;
    this.value = value;
  }

  /** Returns where to write. */
  public String register() {
    return register;
  }

  /** Returns what to write. */
  public String value() {
    return value;
  }

  /**
   * Returns what a system's client has noted at the first attempt, to repeat the same thing.
   *
   * @return its own, null at the first attempt
   */
  public @Nullable Object identity() {
    return identity;
  }

  /**
   * Notes it.
   *
   * @param noted what the client needs to repeat this write; null to forget it
   */
  public void identify(@Nullable Object noted) {
    identity = noted;
  }
}
