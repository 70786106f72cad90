package io.eventbus.registry.state;

import io.eventbus.registry.CommandId;
import io.eventbus.registry.RegistryCommand;
import java.util.Objects;

/**
 * Command as it stands in the log: with its id and the time at which it was accepted.
 *
 * <p>A leader that gives commands their time should count on from the last state's time with a
 * clock that does not jump: the registry's time never goes back, but it does follow a jump forward,
 * and leases run out by it.
 *
 * @param timeMillis the time in milliseconds; not negative
 */
public record TimedCommand(CommandId id, long timeMillis, RegistryCommand command) {
  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if the time is negative
   */
  public TimedCommand {
    Objects.requireNonNull(id, "id");
    Objects.requireNonNull(command, "command");
    if (timeMillis < 0) {
      throw new IllegalArgumentException("timeMillis: " + timeMillis + " (expected: >= 0)");
    }
  }
}
