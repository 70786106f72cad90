package io.eventbus.registry.local;

import io.eventbus.registry.RegistryOverloadedException;

/** Why a command is not even taken in. */
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
