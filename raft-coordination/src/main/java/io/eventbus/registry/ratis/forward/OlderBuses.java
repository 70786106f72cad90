package io.eventbus.registry.ratis.forward;

import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryRefusalReason;
import io.eventbus.registry.RegistrySnapshot;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Check that keeps commands out of the log that a bus of an earlier version could not apply: it
 * would have to stop. Buses that are DOWN do not count, because a bus that does not come back must
 * not hold up the others; one that comes back has to be upgraded.
 */
final class OlderBuses {
  private static final int SHOWN = 8;

  private OlderBuses() {}

  /** Returns the refusal of a command, or null if every present bus knows it. */
  static CommandResult.@Nullable Refused refusal(
      RegistrySnapshot registry, RegistryCommand command) {
    int needed = command.neededProtocol();
    if (needed <= 1) {
      return null;
    }
    List<String> older = new ArrayList<>();
    for (BusInfo bus : registry.buses()) {
      if (bus.state() != BusState.DOWN && bus.description().protocolVersion() < needed) {
        older.add(bus.id().value());
      }
    }
    if (older.isEmpty()) {
      return null;
    }
    return new CommandResult.Refused(
        registry.version(),
        RegistryRefusalReason.BUSES_TOO_OLD,
        "an older version that does not know the command runs on "
            + older.size()
            + " buses: "
            + String.join(", ", older.subList(0, Math.min(SHOWN, older.size())))
            + (older.size() > SHOWN ? ", …" : "")
            + " (expected: upgrade them first)");
  }
}
