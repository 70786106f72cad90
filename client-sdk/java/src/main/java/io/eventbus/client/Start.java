package io.eventbus.client;

import java.time.Instant;

/**
 * First event for a consumer of durable topics; immutable.
 *
 * @param kind the kind of the start
 * @param value a position, or microseconds since the epoch; else 0
 */
public record Start(Kind kind, long value) {
  /** Start at the oldest event that the journal has. */
  public static final Start FIRST = new Start(Kind.FIRST, 0);

  /** Start at the first event that is stored from then on. */
  public static final Start NEW = new Start(Kind.NEW, 0);

  /**
   * Start with the last event of each topic, in the order in which they were stored, and then every
   * event: only for journals that keep no more than that.
   */
  public static final Start LATEST_VALUES = new Start(Kind.LATEST_VALUES, 0);

  /** Kind of a start. */
  public enum Kind {
    /** The oldest event. */
    FIRST,
    /** New events. */
    NEW,
    /** The latest values. */
    LATEST_VALUES,
    /** A position. */
    POSITION,
    /** A time. */
    TIME
  }

  /**
   * Checks the value.
   *
   * @param kind as above
   * @param value as above
   * @throws IllegalArgumentException if it is negative
   */
  public Start {
    if (value < 0) {
      throw new IllegalArgumentException(kind + ": " + value + " (expected: at least 0)");
    }
  }

  /**
   * Returns the start at a position.
   *
   * @param position that of the first event; retention may have removed it, then the next one
   * @return the start
   */
  public static Start position(long position) {
    return new Start(Kind.POSITION, position);
  }

  /**
   * Returns the start at a time.
   *
   * @param time of the first event, by the clock of the bus that stored it; some events that are a
   *     little older may come first
   * @return the start
   */
  public static Start time(Instant time) {
    return new Start(Kind.TIME, Micros.of(time));
  }
}
