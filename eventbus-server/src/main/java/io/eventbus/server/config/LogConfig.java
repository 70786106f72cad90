package io.eventbus.server.config;

/**
 * What the bus writes to standard error.
 *
 * @param level least severe entries that are written
 * @param format how an entry looks
 */
public record LogConfig(Level level, Format format) {
  /** How severe a log entry is. */
  public enum Level {
    /** Something failed that somebody must look at. */
    ERROR,
    /** Something is wrong and the bus went on. */
    WARN,
    /** Starts, stops and other rare events. */
    INFO,
    /** What single connections do. */
    DEBUG,
    /** Everything. */
    TRACE
  }

  /** How a log entry looks. */
  public enum Format {
    /** A line for people. */
    TEXT,
    /** A JSON object on a line. */
    JSON
  }
}
