package io.eventbus.registry;

/** Role of a bus in the registry's cluster. */
public enum MemberRole {
  /** Voter that gives the commands their order. */
  LEADER,
  /** Member that votes and keeps the log. */
  VOTER,
  /** Member that keeps the log and does not vote. */
  LISTENER,
  /** No member, or not yet. */
  NONE
}
