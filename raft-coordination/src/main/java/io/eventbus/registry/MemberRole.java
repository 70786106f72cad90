package io.eventbus.registry;

/** What a bus does in the registry's cluster. */
public enum MemberRole {
  /** It votes, and gives the commands their order. */
  LEADER,
  /** It votes and keeps the log. */
  VOTER,
  /** It keeps the log and does not vote. */
  LISTENER,
  /** It is no member, or not yet. */
  NONE
}
