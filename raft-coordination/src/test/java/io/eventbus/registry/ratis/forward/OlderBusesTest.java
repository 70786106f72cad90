package io.eventbus.registry.ratis.forward;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.AccountSubject;
import io.eventbus.registry.BusAddresses;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryRefusalReason;
import io.eventbus.registry.RevocationCommand;
import io.eventbus.registry.state.Applied;
import io.eventbus.registry.state.RegistryLimits;
import io.eventbus.registry.state.RegistryState;
import io.eventbus.registry.state.StateMachine;
import io.eventbus.registry.state.TimedCommand;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class OlderBusesTest {
  private static final RevocationCommand REVOKE =
      new RevocationCommand.Revoke(new AccountSubject("", "u1"), 0, 1);

  private RegistryState registry = RegistryState.empty(RegistryLimits.DEFAULT, 1);

  private CommandResult apply(RegistryCommand command) {
    long version = registry.snapshot().version();
    Applied applied =
        StateMachine.apply(
            registry, new TimedCommand(new CommandId(version, 0, version), 1, command));
    registry = applied.state();
    return applied.result();
  }

  private static BusCommand.Register registration(String bus, int protocol, int storage) {
    return new BusCommand.Register(
        new BusDescription(
            new BusId(bus),
            new BusAddresses(List.of("ws://127.0.0.1:1/bus"), null, null, null),
            "default",
            "1.0",
            protocol,
            storage),
        0,
        1_000);
  }

  private long register(String bus, int protocol) {
    return apply(registration(bus, protocol, 0)).expect(CommandResult.BusRegistered.class).epoch();
  }

  private CommandResult.@Nullable Refused refusal(RegistryCommand command) {
    return OlderBuses.refusal(registry.snapshot(), command);
  }

  @Test
  void refusesCommandsThatAPresentOlderBusCannotApply() {
    register("new", 2);
    assertThat(refusal(REVOKE)).isNull();
    long epoch = register("old", 1);
    assertThat(refusal(new BusCommand.ExpireLeases())).as("known to all").isNull();
    assertThat(refusal(REVOKE))
        .satisfies(
            refused -> {
              assertThat(refused.reason()).isEqualTo(RegistryRefusalReason.BUSES_TOO_OLD);
              assertThat(refused.version()).isEqualTo(registry.snapshot().version());
              assertThat(refused.message()).contains("on 1 buses: old (expected: upgrade");
            });
    apply(new BusCommand.ChangeState(new BusId("old"), epoch, BusState.DOWN));
    assertThat(refusal(REVOKE)).as("one that is DOWN").isNull();
  }

  @Test
  void refusesABusWithADataDirectoryBesideOneThatDoesNotKnowThem() {
    long epoch = register("old", 2);
    assertThat(refusal(registration("new", 3, 0))).as("without one").isNull();
    assertThat(refusal(registration("new", 3, 1)))
        .satisfies(
            refused -> assertThat(refused.reason()).isEqualTo(RegistryRefusalReason.BUSES_TOO_OLD));
    apply(new BusCommand.ChangeState(new BusId("old"), epoch, BusState.DOWN));
    assertThat(refusal(registration("new", 3, 1))).isNull();
  }
}
