package io.eventbus.server.config;

/**
 * Identity of this bus.
 *
 * @param name name in logs, in {@code Welcome} and in the administration API: 1 to 64 letters,
 *     digits, {@code .}, {@code -} and {@code _}, the first a letter or a digit
 * @param generated whether nobody has given the name: then a bus in a cluster takes the one that it
 *     had before
 */
public record BusConfig(String name, boolean generated) {

  /**
   * Checks the name.
   *
   * @param name name in logs, in {@code Welcome} and in the administration API: 1 to 64 letters,
   *     digits, {@code .}, {@code -} and {@code _}, the first a letter or a digit
   * @param generated whether nobody has given the name: then a bus in a cluster takes the one that
   *     it had before
   * @throws IllegalArgumentException if the name is empty, too long or has other characters
   */
  public BusConfig {
    TextCheck.name(ConfigKey.BUS_NAME, name);
  }
}
