package io.eventbus.server.advisory;

import java.util.function.Consumer;

/** Distributor of advisories to a listener, and to the audit log. Any thread. */
public final class Advisories {
  private volatile Consumer<Advisory> listener = advisory -> {};
  private volatile Consumer<Advisory> audit = advisory -> {};

  /** Creates a distributor without listeners. */
  public Advisories() {}

  /**
   * Sets the listener.
   *
   * @param told called by any thread, also event loops: must not block and must not throw
   */
  public void listen(Consumer<Advisory> told) {
    listener = told;
  }

  /**
   * Sets the audit log.
   *
   * @param kept called by any thread, also event loops: must not block and must not throw
   */
  public void audit(Consumer<Advisory> kept) {
    audit = kept;
  }

  /** Reports an advisory; returns at once. */
  public void tell(Advisory advisory) {
    if (advisory.publishedAsEvent()) {
      listener.accept(advisory);
    }
    if (advisory.belongsToAudit()) {
      audit.accept(advisory);
    }
  }
}
