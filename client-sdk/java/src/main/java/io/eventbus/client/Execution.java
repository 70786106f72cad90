package io.eventbus.client;

/** Whether a member of a service has begun with a call that has no reply. */
public enum Execution {
  /** No member's handler has seen it: it is safe to call again. */
  NO,
  /** A handler has begun with it, and has said that it failed. */
  YES,
  /** A handler may have begun with it, may be at it still, or may have finished it. */
  UNKNOWN
}
