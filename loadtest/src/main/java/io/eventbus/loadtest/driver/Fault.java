package io.eventbus.loadtest.driver;

import java.util.Locale;

/**
 * A fault put into every subscriber's stream on purpose, to show that the check of integrity sees
 * it.
 *
 * @param every it goes wrong once in this many events, at least 2
 */
public record Fault(Kind kind, long every) {
  /** Kinds of faults. */
  public enum Kind {
    /** An event is left out. */
    DROP,
    /** An event comes twice. */
    DOUBLE,
    /** Two events change places. */
    SWAP
  }

  /** Checks the figure. */
  public Fault {
    if (every < 2) {
      throw new IllegalArgumentException("every: " + every + " (expected: >= 2)");
    }
  }

  /**
   * Reads the form of the command line.
   *
   * @throws IllegalArgumentException if it is not of that form
   */
  public static Fault parse(String text) {
    int colon = text.indexOf(':');
    if (colon < 0 || !text.substring(colon + 1).matches("[0-9]{1,18}")) {
      throw expected(text);
    }
    Kind kind =
        switch (text.substring(0, colon)) {
          case "drop" -> Kind.DROP;
          case "double" -> Kind.DOUBLE;
          case "swap" -> Kind.SWAP;
          default -> throw expected(text);
        };
    return new Fault(kind, Long.parseLong(text.substring(colon + 1)));
  }

  /** Puts the fault before a receiver. */
  public Driver.Receiver on(Driver.Receiver receiver) {
    return new FaultyReceiver(receiver, this);
  }

  private static IllegalArgumentException expected(String text) {
    return new IllegalArgumentException(
        "fault: " + text + " (expected: drop:n, double:n or swap:n, once in n events)");
  }

  @Override
  public String toString() {
    return kind.name().toLowerCase(Locale.ROOT) + ":" + every;
  }
}
