package io.eventbus.server.sys;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.BusAddresses;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.local.LocalRegistry;
import io.eventbus.registry.local.LocalRegistryOptions;
import io.eventbus.server.advisory.Advisory;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BusStatesTest {
  private final LocalRegistry registry =
      new LocalRegistry(LocalRegistryOptions.DEFAULT, Clock.systemUTC());
  private final List<Advisory> told = new CopyOnWriteArrayList<>();

  @BeforeEach
  void start() throws Exception {
    registry.start().toCompletableFuture().get(30, TimeUnit.SECONDS);
  }

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

  private void live(String name, BusState... states) throws Exception {
    BusAddresses addresses = new BusAddresses(List.of("ws://x:1/bus"), null, null, null);
    BusDescription description = new BusDescription(new BusId(name), addresses, "z", "1", 1);
    CommandResult result = submit(new BusCommand.Register(description, 0, 60_000));
    long epoch = ((CommandResult.BusRegistered) result).epoch();
    for (BusState state : states) {
      submit(new BusCommand.ChangeState(new BusId(name), epoch, state));
    }
  }

  @Test
  void whatBecomesOfOtherBusesIsTold() throws Exception {
    AtomicBoolean isMember = new AtomicBoolean();
    registry.addListener(new BusStates(new BusId("a"), isMember::get, told::add));
    live("history", BusState.UP, BusState.DOWN);
    isMember.set(true);
    live("a", BusState.UP, BusState.DRAINING);
    live("b", BusState.UP, BusState.DOWN);
    // It returns when the registry's thread, which tells the listener, has ended.
    registry.close();
    assertThat(told)
        .containsExactly(
            new Advisory.BusStateChanged("b", "UP", "JOINING"),
            new Advisory.BusStateChanged("b", "DOWN", "UP"));
  }
}
