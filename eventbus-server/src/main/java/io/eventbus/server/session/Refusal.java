package io.eventbus.server.session;

import io.eventbus.schema.ErrorCode;

/** Tells a client, with a {@code Problem}, that something was refused. */
@FunctionalInterface
interface Refusal {
  /**
   * Refuses.
   *
   * @param message what was wrong, where, and what was expected
   * @param about the first sequence of a Publish, or the id of a request; 0 for none
   * @param typeCode of the refused frame, -1 for none
   * @param topic of a refused Publish, or empty
   */
  void refuse(ErrorCode code, String message, long about, int typeCode, String topic);
}
