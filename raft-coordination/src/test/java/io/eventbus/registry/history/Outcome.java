package io.eventbus.registry.history;

import io.eventbus.registry.RegistryRefusalReason;

/** Outcome of an operation for its client. */
public sealed interface Outcome {
  /** The command was applied. */
  record Applied(long version) implements Outcome {}

  /** The command was refused, and changed nothing but the version. */
  record Refused(RegistryRefusalReason reason, long version) implements Outcome {}

  /**
   * Answer of a read about one topic.
   *
   * @param token the content that was written last; empty for no configuration
   * @param revision the topic's revision; 0 for no configuration
   */
  record Value(String token, long revision, long version) implements Outcome {}

  /** Nobody knows whether it was applied, or will be. */
  record Unknown() implements Outcome {}

  /** The client was told that it was not applied, and will not be. */
  record NotApplied() implements Outcome {}
}
