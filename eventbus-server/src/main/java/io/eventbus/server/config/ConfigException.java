package io.eventbus.server.config;

import java.util.List;

/**
 * Thrown for a configuration that cannot be used. Trying again without changing it fails again.
 *
 * <p>The message names everything that is wrong, each on its own line with the key, the value, what
 * was expected and where the value came from.
 */
public final class ConfigException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param problems what is wrong, at least one line
   */
  public ConfigException(List<String> problems) {
    super(String.join(System.lineSeparator(), problems));
  }

  /**
   * Returns the problems.
   *
   * @return at least one line
   */
  public List<String> problems() {
    return String.valueOf(getMessage()).lines().toList();
  }
}
