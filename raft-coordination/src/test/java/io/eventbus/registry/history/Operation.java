package io.eventbus.registry.history;

import java.util.List;

/**
 * Operation on one topic, as its client saw it. A command that was repeated with the same id is one
 * operation, from the first attempt to the first answer.
 *
 * @param token the content of CREATE and CHANGE, unique in the history; otherwise empty
 * @param expected the token that CHANGE and DELETE are based on; otherwise empty
 * @param invoked the start, in nanoseconds of one clock for all clients
 * @param returned the end; {@link Long#MAX_VALUE} if the outcome is unknown
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
  /** Kind of operation. */
  public enum Kind {
    /** Create the topic's configuration. */
    CREATE,
    /** Replace it, if it is as expected. */
    CHANGE,
    /** Delete it, if it is as expected. */
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
   * Describes the operation for people.
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
