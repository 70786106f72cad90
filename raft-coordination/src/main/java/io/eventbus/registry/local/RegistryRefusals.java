package io.eventbus.registry.local;

import io.eventbus.registry.RegistryOverloadedException;

/** Reasons why a command is not accepted into the queue. */
final class RegistryRefusals {
  private RegistryRefusals() {}

  static RegistryOverloadedException overloaded(
      CommandQueue queue, PendingCommand command, LocalRegistryOptions options) {
    return new RegistryOverloadedException(
        "queued: "
            + queue.size()
            + " commands, "
            + queue.bytes()
            + " bytes, and "
            + command.bytes
            + " more (expected: at most "
            + options.maxQueuedCommands()
            + " commands, "
            + options.maxQueuedBytes()
            + " bytes)");
  }
}
