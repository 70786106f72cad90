package io.eventbus.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusState;
import io.eventbus.registry.local.LocalRegistry;
import io.eventbus.registry.local.LocalRegistryOptions;
import io.eventbus.server.samples.RegisteredBuses;
import java.time.Clock;
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

  @Test
  void listsUpBusesFromTheNextIdOn() throws Exception {
    registry.start().toCompletableFuture().get(60, TimeUnit.SECONDS);
    OtherBuses others = new OtherBuses(new BusId("c"));
    for (String name : List.of("a", "b", "c", "e")) {
      RegisteredBuses.add(registry, name, BusState.UP);
    }
    RegisteredBuses.add(registry, "d");
    RegisteredBuses.add(registry, "f", BusState.UP, BusState.DRAINING);
    RegisteredBuses.add(registry, "g", BusState.DOWN);
    others.onSnapshot(registry.snapshot(), List.of());
    assertThat(others.addresses()).containsExactly("ws://e:1/bus", "ws://a:1/bus", "ws://b:1/bus");
    List<String> before = others.addresses();
    others.onSnapshot(registry.snapshot(), List.of());
    assertThat(others.addresses()).isSameAs(before);
  }

  @Test
  void aBoundedNumberIsEnough() throws Exception {
    registry.start().toCompletableFuture().get(60, TimeUnit.SECONDS);
    for (int i = 0; i < 20; i++) {
      RegisteredBuses.add(registry, "bus-" + i, BusState.UP);
    }
    OtherBuses others = new OtherBuses(new BusId("bus-3"));
    others.onSnapshot(registry.snapshot(), List.of());
    assertThat(others.addresses()).hasSize(OtherBuses.MAX_BUSES).startsWith("ws://bus-4:1/bus");
  }
}
