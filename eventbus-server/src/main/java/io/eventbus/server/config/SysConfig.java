package io.eventbus.server.config;

import java.time.Duration;

/**
 * Publishing of the bus's own figures.
 *
 * @param interval how often it publishes its figures; zero for never
 */
public record SysConfig(Duration interval) {
  /**
   * Checks every value against its range in {@link ConfigKey}.
   *
   * @param interval how often it publishes its figures; zero for never
   * @throws IllegalArgumentException if a value is out of range
   */
  public SysConfig {
    ConfigKey.SYS_INTERVAL.inRange(interval);
  }
}
