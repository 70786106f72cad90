package io.eventbus.server.session;

import io.eventbus.schema.ErrorCode;

/** Sends a client a {@code Problem} that refuses a request. */
@FunctionalInterface
interface Refusal {
  /**
   * Sends the refusal.
   *
   * @param message the problem, its place, and what was expected
   * @param about the first sequence of a Publish, or the id of a request; 0 for none
   * @param typeCode type code of the refused frame, -1 for none
   * @param topic topic of a refused Publish, or empty
   */
  void refuse(ErrorCode code, String message, long about, int typeCode, String topic);
}
