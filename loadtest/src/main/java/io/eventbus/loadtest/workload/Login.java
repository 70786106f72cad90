package io.eventbus.loadtest.workload;

/** Login of the clients of a workload. */
public enum Login {
  /** Not at all. */
  NONE,
  /** Each with a JSON Web Token of its own, signed with ES256. */
  TOKENS,
  /** The same, and rules for the role in it say what it may do. */
  ROLES
}
