package io.eventbus.registry.state;

import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryChange;
import java.util.List;

/**
 * Result of applying a command.
 *
 * @param state the next state; the same object if nothing changed
 * @param changes the changes for listeners, in order
 */
public record Applied(RegistryState state, CommandResult result, List<RegistryChange> changes) {
  /** Copies the list. */
  public Applied {
    changes = List.copyOf(changes);
  }
}
