package io.eventbus.server.advisory;

import java.util.function.Consumer;

/** Takes what happens on a bus to the one that listens. Any thread. */
public final class Advisories {
  private volatile Consumer<Advisory> listener = advisory -> {};

  /** Makes one to which nothing listens yet. */
  public Advisories() {}

  /**
   * Sets what is told from now on.
   *
   * @param told by any thread, also event loops: must not block and must not throw
   */
  public void listen(Consumer<Advisory> told) {
    listener = told;
  }

  /**
   * Tells that something has happened; returns at once.
   *
   * @param advisory what
   */
  public void tell(Advisory advisory) {
    listener.accept(advisory);
  }
}
