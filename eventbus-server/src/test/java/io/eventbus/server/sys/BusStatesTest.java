package io.eventbus.server.sys;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusState;
import io.eventbus.registry.local.LocalRegistry;
import io.eventbus.registry.local.LocalRegistryOptions;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.samples.RegisteredBuses;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class BusStatesTest {
  private final LocalRegistry registry =
      new LocalRegistry(LocalRegistryOptions.DEFAULT, Clock.systemUTC());
  private final List<Advisory> told = new CopyOnWriteArrayList<>();

  @BeforeEach
  void start() throws Exception {
    registry.start().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  @AfterEach
  void close() {
    registry.close();
  }

  @Test
  void peerStatesAreReported() throws Exception {
    AtomicBoolean isMember = new AtomicBoolean();
    registry.addListener(new BusStates(new BusId("a"), isMember::get, told::add));
    RegisteredBuses.add(registry, "history", BusState.UP, BusState.DOWN);
    isMember.set(true);
    RegisteredBuses.add(registry, "a", BusState.UP, BusState.DRAINING);
    RegisteredBuses.add(registry, "b", BusState.UP, BusState.DOWN);
    // The call returns when the registry's thread, which calls the listener, has ended.
    registry.close();
    assertThat(told)
        .containsExactly(
            new Advisory.BusStateChanged("b", "UP", "JOINING"),
            new Advisory.BusStateChanged("b", "DOWN", "UP"));
  }
}
