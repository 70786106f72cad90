package io.eventbus.server.security;

/** What a client may be allowed to do with topics and services. */
public enum Action {
  /** To publish to a topic. */
  PUBLISH,
  /** To subscribe to topics that are not the system's. */
  SUBSCRIBE,
  /** To subscribe with the policy {@code BLOCK}, which holds publishers back. */
  BLOCK,
  /** To subscribe to the system's topics, those that start with {@code $}. */
  OBSERVE,
  /** To send requests to a service. */
  REQUEST,
  /** To be a member of a service. */
  SERVE,
  /** To publish an event to all members of a service. */
  BROADCAST;

  /**
   * Says whether the action is about the names of services rather than about topics.
   *
   * @return true if a name is asked about; false for topics and filters
   */
  public boolean isAboutServices() {
    return this == REQUEST || this == SERVE || this == BROADCAST;
  }

  /** Says whether single names are asked about, and not all that a filter selects. */
  public boolean isAboutNames() {
    return this == PUBLISH || isAboutServices();
  }
}
