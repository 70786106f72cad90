package io.eventbus.loadtest.run;

/** Stretch of publishing, common to all publishers. Any thread. */
final class PublishingPass {
  private final long start;
  private final long messages;
  private volatile boolean stopped;

  /**
   * Creates one.
   *
   * @param start when the first event is due, if there is a rate
   * @param messages of each publisher, 0 for no bound
   */
  PublishingPass(long start, long messages) {
    this.start = start;
    this.messages = messages == 0 ? Long.MAX_VALUE : messages;
  }

  long start() {
    return start;
  }

  long messages() {
    return messages;
  }

  /** Ends it: each publisher stops before its next event. */
  void stop() {
    stopped = true;
  }

  boolean stopped() {
    return stopped;
  }
}
