package io.eventbus.client.internal.call;

import io.eventbus.client.Answer;

/**
 * Receiver of the answers of all members of a service; the last one and failures come as for any
 * request.
 */
interface GatheredAnswers extends CallResult {
  /**
   * Called for an answer that is not the last.
   *
   * @param bytes of its event, or of its other parts that may be big
   */
  void add(Answer answer, int bytes);

  /** Called for the last answer if it is a failure of one member. */
  void addLast(Answer answer);
}
