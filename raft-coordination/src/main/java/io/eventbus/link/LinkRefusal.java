package io.eventbus.link;

/** Reason why a link to another bus was refused, with whether it is worth trying again. */
public enum LinkRefusal {
  /** The other side does not hold the cluster's secret, or this one does not. */
  AUTHENTICATION(false),
  /** The other side belongs to another cluster. */
  OTHER_CLUSTER(false),
  /** The two sides have no version of the links in common. */
  VERSION(false),
  /** The other side has the maximum number of links, closes, or accepts no such streams yet. */
  BUSY(true);

  private final boolean retryable;

  LinkRefusal(boolean retryable) {
    this.retryable = retryable;
  }

  /**
   * Returns whether trying again can help without a change of the configuration.
   *
   * @return true if it can
   */
  public boolean isRetryable() {
    return retryable;
  }
}
