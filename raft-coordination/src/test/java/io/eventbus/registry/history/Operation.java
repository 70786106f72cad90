package io.eventbus.registry.history;

import java.util.List;

/**
 * One operation on one topic, as its client saw it. A command that was repeated with the same id is
 * one operation, from the first attempt to the first answer.
 *
 * @param token what CREATE and CHANGE write, unique in the history; otherwise empty
 * @param expected the token that CHANGE and DELETE are based on; otherwise empty
 * @param invoked when it began, in nanoseconds of one clock for all clients
 * @param returned when it ended; {@link Long#MAX_VALUE} if the outcome is unknown
 */
public record Operation(
    String id,
    String client,
    Kind kind,
    String topic,
    String token,
    String expected,
    long invoked,
    long returned,
    Outcome outcome) {
  /** What was asked for. */
  public enum Kind {
    /** Create the topic's configuration. */
    CREATE,
    /** Replace it, if it is what was expected. */
    CHANGE,
    /** Delete it, if it is what was expected. */
    DELETE,
    /** Read it, linearizably. */
    READ
  }

  /** Checks the times. */
  public Operation {
    if (returned < invoked) {
      throw new IllegalArgumentException(
          "returned: " + returned + " (expected: >= " + invoked + ")");
    }
  }

  boolean isDecided() {
    return !(outcome instanceof Outcome.Unknown);
  }

  /**
   * Writes the operation for people.
   *
   * @param origin the time that counts as 0
   */
  public String describe(long origin) {
    String asked =
        switch (kind) {
          case CREATE -> "create " + token;
          case CHANGE -> "change " + expected + " -> " + token;
          case DELETE -> "delete " + expected;
          case READ -> "read";
        };
    String end =
        returned == Long.MAX_VALUE ? "?" : String.format("%.3f", (returned - origin) / 1e6);
    return String.format(
        "%12.3f .. %s ms  %s: %s => %s", (invoked - origin) / 1e6, end, client, asked, outcome);
  }

  static long origin(List<Operation> operations) {
    return operations.stream().mapToLong(Operation::invoked).min().orElse(0);
  }
}
