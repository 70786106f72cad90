package io.eventbus.registry;

import java.util.Objects;

/** Command about the configuration of topics. */
public sealed interface TopicCommand extends RegistryCommand {

  /**
   * Creates the configuration of a topic that has none. The answer is {@link
   * CommandResult.TopicCreated}.
   *
   * @param spec the topic and its settings
   */
  record Create(TopicSpec spec) implements TopicCommand {
    /**
     * Takes the specification.
     *
     * @param spec as above
     */
    public Create {
      Objects.requireNonNull(spec, "spec");
    }

    @Override
    public int estimatedBytes() {
      return specBytes(spec);
    }
  }

  /**
   * Replaces the settings of a topic if they have not been changed meanwhile (compare and set). The
   * answer is {@link CommandResult.TopicChanged}.
   *
   * @param spec the topic and all its settings
   * @param expectedRevision the revision that the change is based on, see {@link
   *     TopicConfig#revision()}
   */
  record Change(TopicSpec spec, long expectedRevision) implements TopicCommand {
    /**
     * Checks the values.
     *
     * @param spec as above
     * @param expectedRevision as above
     * @throws IllegalArgumentException if the revision is not positive
     */
    public Change {
      Objects.requireNonNull(spec, "spec");
      RegistryChecks.range("expectedRevision", expectedRevision, 1, Long.MAX_VALUE);
    }

    @Override
    public int estimatedBytes() {
      return specBytes(spec);
    }
  }

  /**
   * Deletes the configuration of a topic if it has not been changed meanwhile. The answer is {@link
   * CommandResult.TopicDeleted}.
   *
   * @param name the topic
   * @param expectedRevision the revision that is to be deleted
   */
  record Delete(String name, long expectedRevision) implements TopicCommand {
    /**
     * Checks the values.
     *
     * @param name as above
     * @param expectedRevision as above
     * @throws IllegalArgumentException if the topic is illegal or the revision is not positive
     */
    public Delete {
      TopicNames.check(name);
      RegistryChecks.range("expectedRevision", expectedRevision, 1, Long.MAX_VALUE);
    }

    @Override
    public int estimatedBytes() {
      return 256 + 2 * name.length();
    }
  }

  private static int specBytes(TopicSpec spec) {
    int bytes = 256 + 2 * spec.name().length();
    for (var setting : spec.settings().entrySet()) {
      bytes += 128 + 2 * (setting.getKey().length() + setting.getValue().length());
    }
    return bytes;
  }
}
