package io.eventbus.server.security;

/** Action that a client may be allowed to do with topics and services. */
public enum Action {
  /** Publish to a topic. */
  PUBLISH,
  /** Subscribe to topics that are not the system's. */
  SUBSCRIBE,
  /** Subscribe with the policy {@code BLOCK}, which stalls publishers. */
  BLOCK,
  /** Subscribe to the system's topics, those that start with {@code $}. */
  OBSERVE,
  /** Send requests to a service. */
  REQUEST,
  /** Be a member of a service. */
  SERVE,
  /** Publish an event to all members of a service. */
  BROADCAST,
  /** Manage the journals of its account, at the administration port. */
  JOURNAL;

  /**
   * Returns whether the action is about the names of services rather than about topics and filters.
   */
  public boolean isAboutServices() {
    return this == REQUEST || this == SERVE || this == BROADCAST;
  }

  /** Returns whether it is asked for single names, not for all that a filter matches. */
  public boolean isAboutNames() {
    return this == PUBLISH || isAboutServices();
  }
}
