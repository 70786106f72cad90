package io.eventbus.client;

/** Execution of a call that has no reply: whether a member has begun with it. */
public enum Execution {
  /** No member's handler has seen it: it is safe to call again. */
  NO,
  /** A handler has begun with it, and has said that it failed. */
  YES,
  /** A handler may have begun with it, may be at it still, or may have finished it. */
  UNKNOWN
}
