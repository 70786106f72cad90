package io.eventbus.client.internal.call;

import io.eventbus.client.Answer;

/** Gets the answers of all members of a service; the last one and failures as any request does. */
interface GatheredAnswers extends CallResult {
  /**
   * An answer has come, and is not the last.
   *
   * @param bytes of its event, or of what else it holds that may be big
   */
  void add(Answer answer, int bytes);

  /** The last answer has come, and is a failure of one member. */
  void addLast(Answer answer);
}
