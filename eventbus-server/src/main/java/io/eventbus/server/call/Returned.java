package io.eventbus.server.call;

/** Why a member's loop gives a call back that has not been answered. */
enum Returned {
  /** The member went before the call was written to it. */
  UNWRITTEN,
  /** The member went with the call. */
  LOST,
  /** The caller's time was over before the member had the call. */
  EXPIRED
}
