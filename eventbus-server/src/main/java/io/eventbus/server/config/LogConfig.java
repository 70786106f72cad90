package io.eventbus.server.config;

/**
 * Log on standard error.
 *
 * @param level least severe entries that are written
 * @param format how an entry looks
 */
public record LogConfig(Level level, Format format) {
  /** Severity of a log entry. */
  public enum Level {
    /** Failures that somebody must look at. */
    ERROR,
    /** Problems after which the bus went on. */
    WARN,
    /** Starts, stops and other rare events. */
    INFO,
    /** Actions of single connections. */
    DEBUG,
    /** Everything. */
    TRACE
  }

  /** Format of a log entry. */
  public enum Format {
    /** Line for people. */
    TEXT,
    /** JSON object on a line. */
    JSON
  }
}
