package io.eventbus.server.advisory;

import java.util.function.Consumer;

/** Takes what happens on a bus to what listens, and to the audit log. Any thread. */
public final class Advisories {
  private volatile Consumer<Advisory> listener = advisory -> {};
  private volatile Consumer<Advisory> audit = advisory -> {};

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
   * Sets what keeps account from now on of who did what.
   *
   * @param kept by any thread, also event loops: must not block and must not throw
   */
  public void audit(Consumer<Advisory> kept) {
    audit = kept;
  }

  /** Tells that something has happened; returns at once. */
  public void tell(Advisory advisory) {
    if (advisory.publishedAsEvent()) {
      listener.accept(advisory);
    }
    if (advisory.belongsToAudit()) {
      audit.accept(advisory);
    }
  }
}
