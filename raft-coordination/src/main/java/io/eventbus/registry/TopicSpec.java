package io.eventbus.registry;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * Specification of the treatment of a topic, as an operator asks for it.
 *
 * <p>The registry keeps settings as text and does not know their meaning. The capability that reads
 * a setting defines its name, checks its value and falls back to its default if it does not know
 * the value; so a bus of another version never fails on a setting.
 *
 * @param name the topic: no wildcard, no {@code $} at its start, at most 255 bytes of UTF-8 and 16
 *     tokens
 * @param settings at most 32, in the order of their names; a name is like a {@link BusId}, a value
 *     has at most 1,024 bytes of UTF-8
 */
public record TopicSpec(String name, Map<String, String> settings) {
  private static final int MAX_SETTINGS = 32;
  private static final int MAX_VALUE_BYTES = 1_024;

  /**
   * Checks and copies the settings.
   *
   * @param name as above
   * @param settings as above
   * @throws IllegalArgumentException if the topic or a setting is illegal, saying why
   */
  public TopicSpec {
    TopicNames.check(name);
    RegistryChecks.range("settings.size", settings.size(), 0, MAX_SETTINGS);
    TreeMap<String, String> sorted = new TreeMap<>(settings);
    sorted.forEach(
        (key, value) -> {
          RegistryChecks.name("setting", key);
          RegistryChecks.text(key, value, 0, MAX_VALUE_BYTES);
        });
    settings = Collections.unmodifiableMap(sorted);
  }
}
