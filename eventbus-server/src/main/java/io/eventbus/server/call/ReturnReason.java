package io.eventbus.server.call;

/** Why a member's loop gives a call back that has not been answered. */
enum ReturnReason {
  /** The member went before the call was written to it. */
  UNWRITTEN,
  /** The member went with the call. */
  LOST,
  /** The caller's time was over before the member had the call. */
  EXPIRED,
  /** The member is another bus, which was lost with the call. */
  BUS_LOST,
  /** The member is another bus, where no place was free. */
  BUSY,
  /** The member is another bus, where nobody serves it. */
  NOT_THERE
}
