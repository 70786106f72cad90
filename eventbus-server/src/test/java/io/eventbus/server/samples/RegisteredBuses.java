package io.eventbus.server.samples;

import io.eventbus.registry.BusAddresses;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.local.LocalRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Buses in the registry of a test. */
public final class RegisteredBuses {
  private RegisteredBuses() {}

  /**
   * Registers a bus at {@code ws://NAME:1/bus} and {@code ws://other:1/bus}.
   *
   * @param states the states that it takes one after another
   * @throws Exception if the registry does not answer within 30 s
   */
  public static void add(LocalRegistry registry, String name, BusState... states) throws Exception {
    BusAddresses addresses =
        new BusAddresses(List.of("ws://" + name + ":1/bus", "ws://other:1/bus"), null, null, null);
    BusDescription description = new BusDescription(new BusId(name), addresses, "z", "1", 1, 0);
    CommandResult result = submit(registry, new BusCommand.Register(description, 0, 60_000));
    long epoch = ((CommandResult.BusRegistered) result).epoch();
    for (BusState state : states) {
      submit(registry, new BusCommand.ChangeState(new BusId(name), epoch, state));
    }
  }

  private static CommandResult submit(LocalRegistry registry, BusCommand command) throws Exception {
    return registry
        .submit(command, Duration.ofSeconds(30))
        .toCompletableFuture()
        .get(60, TimeUnit.SECONDS);
  }
}
