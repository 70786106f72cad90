package io.eventbus.server.config;

import java.util.List;

/**
 * Configuration together with the origin of each value.
 *
 * @param config the configuration
 * @param settings one for each key, in the order of the table
 * @param warnings lines about former names of keys that were used, each with the name of today
 */
public record EffectiveConfig(ServerConfig config, List<Setting> settings, List<String> warnings) {
  /**
   * Copies the lists, so that the record is immutable.
   *
   * @param config the configuration
   * @param settings one for each key, in the order of the table
   * @param warnings lines about former names of keys that were used, each with the name of today
   */
  public EffectiveConfig {
    settings = List.copyOf(settings);
    warnings = List.copyOf(warnings);
  }

  /**
   * Returns the value of a key.
   *
   * @param key the key
   * @return its value and origin
   */
  public Setting setting(ConfigKey key) {
    return settings.stream().filter(s -> s.key() == key).findFirst().orElseThrow();
  }

  /**
   * Value of one key.
   *
   * @param key the key
   * @param value value as text that can be written in a file; {@code ***} for a secret
   * @param origin where it comes from, for people: "default", "file bus.properties", "variable
   *     EVENTBUS_LISTEN_PORT" or "flag --port"
   */
  public record Setting(ConfigKey key, String value, String origin) {}
}
