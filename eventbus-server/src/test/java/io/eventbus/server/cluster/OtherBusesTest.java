package io.eventbus.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.BusAddresses;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.local.LocalRegistry;
import io.eventbus.registry.local.LocalRegistryOptions;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OtherBusesTest {
  private final LocalRegistry registry =
      new LocalRegistry(LocalRegistryOptions.DEFAULT, Clock.systemUTC());

  @AfterEach
  void close() {
    registry.close();
  }

  private CommandResult submit(BusCommand command) throws Exception {
    return registry
        .submit(command, Duration.ofSeconds(30))
        .toCompletableFuture()
        .get(30, TimeUnit.SECONDS);
  }

  private void add(String name, BusState... states) throws Exception {
    BusAddresses addresses =
        new BusAddresses(List.of("ws://" + name + ":1/bus", "ws://other:1/bus"), null, null, null);
    BusDescription description = new BusDescription(new BusId(name), addresses, "z", "1", 1);
    CommandResult result = submit(new BusCommand.Register(description, 0, 60_000));
    long epoch = ((CommandResult.BusRegistered) result).epoch();
    for (BusState state : states) {
      submit(new BusCommand.ChangeState(new BusId(name), epoch, state));
    }
  }

  @Test
  void thoseThatAreUpFirstTheOnesAfterThisOne() throws Exception {
    registry.start().toCompletableFuture().get(30, TimeUnit.SECONDS);
    OtherBuses others = new OtherBuses(new BusId("c"));
    for (String name : List.of("a", "b", "c", "e")) {
      add(name, BusState.UP);
    }
    add("d");
    add("f", BusState.UP, BusState.DRAINING);
    add("g", BusState.DOWN);
    others.onSnapshot(registry.snapshot(), List.of());
    assertThat(others.addresses()).containsExactly("ws://e:1/bus", "ws://a:1/bus", "ws://b:1/bus");
    List<String> before = others.addresses();
    others.onSnapshot(registry.snapshot(), List.of());
    assertThat(others.addresses()).isSameAs(before);
  }

  @Test
  void someAreEnough() throws Exception {
    registry.start().toCompletableFuture().get(30, TimeUnit.SECONDS);
    for (int i = 0; i < 20; i++) {
      add("bus-" + i, BusState.UP);
    }
    OtherBuses others = new OtherBuses(new BusId("bus-3"));
    others.onSnapshot(registry.snapshot(), List.of());
    assertThat(others.addresses()).hasSize(OtherBuses.MOST).startsWith("ws://bus-4:1/bus");
  }
}
