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
public final class Samples {
  private Samples() {}

  static BusDescription bus(String id) {
    return bus(id, "default", 0);
  }

  /** Returns a bus with that generation of its data directory; 0 for none. */
  public static BusDescription bus(String id, String zone, int storage) {
    return new BusDescription(
        new BusId(id),
        new BusAddresses(List.of("ws://127.0.0.1:8080/bus"), null, null, null),
        zone,
        "1.0",
        1,
        storage);
  }

  static TopicSpec topic(String name, String value) {
    return new TopicSpec(name, Map.of("setting", value));
  }

  static TimedCommand at(long timeMillis, long basis, long id, RegistryCommand command) {
    return new TimedCommand(new CommandId(basis, 0, id), timeMillis, command);
  }
}
