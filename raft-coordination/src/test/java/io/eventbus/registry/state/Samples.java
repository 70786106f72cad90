package io.eventbus.registry.state;

import io.eventbus.registry.BusAddresses;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusId;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.TopicSpec;
import java.util.List;
import java.util.Map;

/** Values for tests. */
final class Samples {
  private Samples() {}

  static BusDescription bus(String id) {
    return new BusDescription(
        new BusId(id),
        new BusAddresses(List.of("ws://127.0.0.1:8080/bus"), null, null, null),
        "default",
        "1.0",
        1);
  }

  static TopicSpec topic(String name, String value) {
    return new TopicSpec(name, Map.of("setting", value));
  }

  static TimedCommand at(long timeMillis, long basis, long id, RegistryCommand command) {
    return new TimedCommand(new CommandId(basis, 0, id), timeMillis, command);
  }
}
