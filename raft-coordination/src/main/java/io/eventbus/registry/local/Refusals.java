package io.eventbus.registry.local;

import io.eventbus.registry.Registry;
import io.eventbus.registry.RegistryClosedException;
import io.eventbus.registry.RegistryException;
import io.eventbus.registry.RegistryFailedException;
import io.eventbus.registry.RegistryLifecycle;
import io.eventbus.registry.RegistryOverloadedException;
import io.eventbus.registry.RegistryUnavailableException;
import java.time.Duration;

/** Why a command is not even taken in. */
final class Refusals {
  private Refusals() {}

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

  static RegistryException notRunning(RegistryLifecycle lifecycle) {
    String message = "lifecycle: " + lifecycle + " (expected: RUNNING)";
    return switch (lifecycle) {
      case NEW, STARTING, RUNNING -> new RegistryUnavailableException(message);
      case FAILED -> new RegistryFailedException(message, false);
      case CLOSING, CLOSED -> new RegistryClosedException(message, false);
    };
  }

  static void checkDeadline(Duration deadline) {
    if (deadline.isNegative()
        || deadline.isZero()
        || deadline.compareTo(Registry.MAX_DEADLINE) > 0) {
      throw new IllegalArgumentException(
          "deadline: " + deadline + " (expected: > 0 and <= " + Registry.MAX_DEADLINE + ")");
    }
  }
}
