package io.eventbus.loadtest.faults.history;

/**
 * Publication of an event, from the first call to the last answer if it was published again.
 *
 * @param expected the position that the topic's last event had to have, 0 for an empty topic, or
 *     {@link #NOTHING}
 * @param called the time before the first call, in nanoseconds of one clock for a whole history
 * @param answered the time after the answer
 */
public record Publication(
    EventName event, long expected, long called, long answered, PublishAnswer answer) {
  /** Value of {@code expected} without an expectation. */
  public static final long NOTHING = -1;

  /** Checks the times. */
  public Publication {
    if (answered < called) {
      throw new IllegalArgumentException(
          "answered: " + answered + " (expected: at least " + called + ")");
    }
  }

  @Override
  public String toString() {
    return String.format(
        "%s, %.3f to %.3f s%s: %s",
        event,
        called / 1e9,
        answered / 1e9,
        expected == NOTHING ? "" : ", expecting " + expected,
        answer);
  }
}
