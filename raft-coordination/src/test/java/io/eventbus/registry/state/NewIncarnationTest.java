package io.eventbus.registry.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryRefusalReason;
import io.eventbus.registry.ShardCommand;
import io.eventbus.registry.ShardReplica;
import io.eventbus.registry.TopicCommand;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Nothing of a lost cluster is given out again. */
class NewIncarnationTest {
  private static final TimedCommand CREATE =
      Samples.at(20, 1, 2, new TopicCommand.Create(Samples.topic("t", "v")));

  private static RegistryState last() {
    RegistryState state = RegistryState.empty(RegistryLimits.DEFAULT, 1);
    state =
        StateMachine.apply(
                state,
                Samples.at(10, 0, 1, new BusCommand.Register(Samples.bus("a", "z", 2), 0, 1_000)))
            .state();
    state = StateMachine.apply(state, CREATE).state();
    ShardReplica replica = new ShardReplica(new BusId("a"), 2, true);
    return StateMachine.apply(
            state, Samples.at(20, 1, 4, new ShardCommand.Place(1, 0, List.of(replica))))
        .state();
  }

  @Test
  void numbersAndVersionsGoOnBehindAGapAndEveryBusIsDown() {
    RegistryState last = last();
    RegistryState first = NewIncarnation.of(last);
    assertThat(first.snapshot().version())
        .isEqualTo(last.snapshot().version() + NewIncarnation.VERSION_GAP);
    assertThat(first.snapshot().topics()).containsExactlyElementsOf(last.snapshot().topics());
    assertThat(first.snapshot().shards())
        .hasSize(1)
        .containsExactlyElementsOf(last.snapshot().shards());
    BusInfo bus = first.snapshot().bus(new BusId("a"));
    assertThat(bus).isNotNull();
    assertThat(bus.state()).isEqualTo(BusState.DOWN);
    CommandResult result =
        StateMachine.apply(
                first,
                Samples.at(
                    30,
                    first.snapshot().version(),
                    3,
                    new BusCommand.Register(Samples.bus("a"), 0, 1_000)))
            .result();
    assertThat(result)
        .isInstanceOfSatisfying(
            CommandResult.BusRegistered.class,
            registered -> assertThat(registered.number()).isEqualTo(2 + NewIncarnation.NUMBER_GAP));
  }

  @Test
  void aCommandFromBeforeIsForgottenAndNotAppliedAgain() {
    RegistryState first = NewIncarnation.of(last());
    assertThat(StateMachine.apply(first, CREATE).result())
        .isInstanceOfSatisfying(
            CommandResult.Refused.class,
            refused -> assertThat(refused.reason()).isEqualTo(RegistryRefusalReason.ID_FORGOTTEN));
    assertThat(first.rememberedCommands()).isZero();
  }

  @Test
  void canBeSavedAsAnyOther() {
    RegistryState first = NewIncarnation.of(last());
    assertThat(RegistryState.restore(first.image())).isEqualTo(first);
    assertThat(NewIncarnation.of(first).snapshot().version())
        .isEqualTo(first.snapshot().version() + NewIncarnation.VERSION_GAP);
  }

  @Test
  void withoutNumbersLeftItSaysSo() {
    RegistryImage image = last().image();
    RegistryState full =
        RegistryState.restore(
            new RegistryImage(
                image.limits(),
                image.version(),
                image.timeMillis(),
                Integer.MAX_VALUE - 5L,
                image.buses(),
                image.topics(),
                image.revocations(),
                image.shards(),
                List.of(),
                List.of(),
                image.version(),
                image.version()));
    assertThatThrownBy(() -> NewIncarnation.of(full))
        .hasMessageContaining("nextNumber: 2147483642");
  }
}
