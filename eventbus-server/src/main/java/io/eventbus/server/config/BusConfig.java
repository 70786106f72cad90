package io.eventbus.server.config;

import java.util.regex.Pattern;

/**
 * Who this bus is.
 *
 * @param name name in logs, in {@code Welcome} and in the administration API: 1 to 64 letters,
 *     digits, {@code .}, {@code -} and {@code _}
 */
public record BusConfig(String name) {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");

  /**
   * Checks the name.
   *
   * @param name name in logs, in {@code Welcome} and in the administration API: 1 to 64 letters,
   *     digits, {@code .}, {@code -} and {@code _}
   * @throws IllegalArgumentException if the name is empty, too long or has other characters
   */
  public BusConfig {
    TextCheck.matches(ConfigKey.BUS_NAME, name, NAME);
  }
}
