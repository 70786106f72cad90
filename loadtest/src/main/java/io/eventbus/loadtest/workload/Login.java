package io.eventbus.loadtest.workload;

/** How the clients of a workload prove who they are. */
public enum Login {
  /** Not at all. */
  NONE,
  /** Each with a JSON Web Token of its own, signed with ES256. */
  TOKENS,
  /** The same, and rules for the role in it say what it may do. */
  ROLES
}
