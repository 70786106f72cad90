package io.eventbus.registry;

import java.util.Map;

/**
 * Configuration of one topic as the registry holds it.
 *
 * @param spec the specification
 * @param created the version of the registry that created it
 * @param revision the version of the registry that last changed it: never the same twice, also when
 *     a topic is deleted and created again
 */
public record TopicConfig(TopicSpec spec, long created, long revision) {
  /**
   * Checks the values.
   *
   * @param spec as above
   * @param created as above
   * @param revision as above
   * @throws IllegalArgumentException if created or revision is not positive or out of order
   */
  public TopicConfig {
    RegistryChecks.range("created", created, 1, Long.MAX_VALUE);
    RegistryChecks.range("revision", revision, created, Long.MAX_VALUE);
  }

  /**
   * Returns the topic.
   *
   * @return the name from the specification
   */
  public String name() {
    return spec.name();
  }

  /**
   * Returns the settings.
   *
   * @return an immutable map in the order of the names
   */
  public Map<String, String> settings() {
    return spec.settings();
  }
}
