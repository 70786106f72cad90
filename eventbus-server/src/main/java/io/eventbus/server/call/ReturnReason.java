package io.eventbus.server.call;

/** Reason why a member's loop returns a call without an answer. */
enum ReturnReason {
  /** Member went before the call was written to it. */
  UNWRITTEN,
  /** Member was lost with the call. */
  LOST,
  /** Caller's time was over before the member had the call. */
  EXPIRED,
  /** Peer was lost with the call. */
  BUS_LOST,
  /** Peer had no free place. */
  BUSY,
  /** Peer has no member for it. */
  NOT_THERE
}
