package io.eventbus.registry.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.eventbus.registry.AccountSubject;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.CommandResult.BusRegistered;
import io.eventbus.registry.CommandResult.LeasesExpired;
import io.eventbus.registry.CommandResult.Refused;
import io.eventbus.registry.CommandResult.TopicCreated;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryRefusalReason;
import io.eventbus.registry.RevocationCommand;
import io.eventbus.registry.TopicCommand;
import io.eventbus.registry.TopicConfig;
import java.util.List;
import org.junit.jupiter.api.Test;

class StateMachineTest {
  private static final BusId A = new BusId("a");

  private RegistryState state = RegistryState.empty(RegistryLimits.DEFAULT, 1);
  private List<RegistryChange> changes = List.of();
  private long nextId = 1;

  @Test
  void aBusLivesThroughItsStates() {
    BusRegistered registered = registerA(1_000, 0).expect(BusRegistered.class);
    assertThat(registered).isEqualTo(new BusRegistered(1, 1, 1, 6_000));
    assertThat(changes)
        .extracting(RegistryChange::describe)
        .containsExactly("bus a (1): registered");

    apply(1_100, new BusCommand.ChangeState(A, 1, BusState.UP));
    apply(1_200, new BusCommand.ChangeState(A, 1, BusState.DRAINING));
    assertThat(changes)
        .extracting(RegistryChange::describe)
        .containsExactly("bus a (1): UP -> DRAINING");
    apply(1_300, new BusCommand.ChangeState(A, 1, BusState.DOWN));
    assertThat(bus().state()).isEqualTo(BusState.DOWN);
    assertThat(refusal(apply(1_400, new BusCommand.ChangeState(A, 1, BusState.UP))))
        .isEqualTo(RegistryRefusalReason.ILLEGAL_TRANSITION);
    assertThat(refusal(apply(1_400, new BusCommand.RenewLease(A, 1, 5_000))))
        .isEqualTo(RegistryRefusalReason.BUS_IS_DOWN);
  }

  @Test
  void aBusThatComesBackGetsANewNumberAndALaterEpoch() {
    registerA(0, 0);
    apply(0, new BusCommand.ChangeState(A, 1, BusState.DOWN));
    BusRegistered again = registerA(0, 0).expect(BusRegistered.class);
    assertThat(again.number()).isEqualTo(2);
    assertThat(again.epoch()).isEqualTo(3);
    assertThat(state.snapshot().bus(1)).isNull();
    assertThat(state.snapshot().bus(2)).isEqualTo(bus());
    assertThat(refusal(apply(0, new BusCommand.ChangeState(A, 1, BusState.DOWN))))
        .isEqualTo(RegistryRefusalReason.STALE_EPOCH);
  }

  @Test
  void aCommandForALifeBeforeARemovalDoesNotReachTheNextOne() {
    registerA(0, 0);
    apply(0, new BusCommand.ChangeState(A, 1, BusState.DOWN));
    apply(0, new BusCommand.Remove(A, 1)).expect(CommandResult.BusRemoved.class);
    registerA(0, 0);
    assertThat(refusal(apply(0, new BusCommand.ChangeState(A, 1, BusState.DOWN))))
        .isEqualTo(RegistryRefusalReason.STALE_EPOCH);
  }

  @Test
  void anIdInUseIsRefusedUntilItsLeaseIsOverOrItsEpochIsKnown() {
    registerA(0, 0);
    CommandResult refused = registerA(4_999, 0);
    assertThat(refusal(refused)).isEqualTo(RegistryRefusalReason.BUS_ID_IN_USE);
    assertThat(((Refused) refused).message())
        .isEqualTo(
            "bus a is JOINING in epoch 1, with a lease for another 1 ms (expected: DOWN, or"
                + " replacesEpoch 1, not 0)");
    assertThat(registerA(4_999, 1)).isInstanceOf(BusRegistered.class);
    assertThat(registerA(9_999, 0)).isInstanceOf(BusRegistered.class);
  }

  @Test
  void leasesExpireByTheTimeOfCommandsOnly() {
    registerA(0, 0);
    apply(4_000, new BusCommand.RenewLease(A, 1, 5_000));
    assertThat(apply(8_999, new BusCommand.ExpireLeases()))
        .isEqualTo(new LeasesExpired(3, List.of()));
    assertThat(bus().state()).isEqualTo(BusState.JOINING);
    assertThat(apply(9_000, new BusCommand.ExpireLeases()))
        .isEqualTo(new LeasesExpired(4, List.of(A)));
    assertThat(bus().state()).isEqualTo(BusState.DOWN);
  }

  @Test
  void timeNeverGoesBackAndALeaseIsNeverShortened() {
    registerA(10_000, 0);
    apply(3_000, new BusCommand.RenewLease(A, 1, 100));
    assertThat(state.snapshot().timeMillis()).isEqualTo(10_000);
    assertThat(bus().lease().expiresAtMillis()).isEqualTo(15_000);
  }

  @Test
  void theEndOfTimeDoesNotOverflow() {
    registerA(Long.MAX_VALUE, 0);
    assertThat(bus().lease().expiresAtMillis()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void numbersAreNeverReusedAndEnd() {
    state = RegistryState.empty(RegistryLimits.DEFAULT, Integer.MAX_VALUE);
    assertThat(registerA(0, 0).expect(BusRegistered.class).number()).isEqualTo(Integer.MAX_VALUE);
    assertThat(refusal(registerA(5_000, 0))).isEqualTo(RegistryRefusalReason.NO_NUMBER_LEFT);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RegistryState.empty(RegistryLimits.DEFAULT, 0));
  }

  @Test
  void topicsAreChangedByCompareAndSet() {
    apply(0, new TopicCommand.Create(Samples.topic("t", "1"))).expect(TopicCreated.class);
    apply(0, new TopicCommand.Change(Samples.topic("t", "2"), 1));
    CommandResult late = apply(0, new TopicCommand.Change(Samples.topic("t", "3"), 1));
    assertThat(late)
        .isEqualTo(
            new Refused(
                3, RegistryRefusalReason.STALE_REVISION, "expectedRevision: 1 (expected: 2)"));
    assertThat(state.snapshot().topic("t"))
        .isEqualTo(new TopicConfig(Samples.topic("t", "2"), 1, 2));
  }

  @Test
  void aTopicThatWasDeletedAndCreatedAgainIsAnotherOne() {
    apply(0, new TopicCommand.Create(Samples.topic("t", "1")));
    apply(0, new TopicCommand.Delete("t", 1));
    apply(0, new TopicCommand.Create(Samples.topic("t", "1")));
    assertThat(refusal(apply(0, new TopicCommand.Delete("t", 1))))
        .isEqualTo(RegistryRefusalReason.STALE_REVISION);
  }

  @Test
  void aRepeatedCommandGetsItsFirstResultEvenWhenItWouldFailNow() {
    TimedCommand create = command(0, new TopicCommand.Create(Samples.topic("t", "1")));
    Applied first = StateMachine.apply(state, create);
    state = first.state();
    apply(0, new TopicCommand.Delete("t", 1));
    RegistryState before = state;
    Applied again =
        StateMachine.apply(state, new TimedCommand(create.id(), 9_999, create.command()));
    assertThat(again.result()).isEqualTo(first.result());
    assertThat(again.state()).isSameAs(before);
    assertThat(again.changes()).isEmpty();
    assertThat(state.snapshot().topic("t")).isNull();
  }

  @Test
  void aCommandThatMayBeForgottenIsRefusedNotAppliedTwice() {
    state = RegistryState.empty(new RegistryLimits(10, 10, 4), 1);
    TimedCommand first = command(0, new TopicCommand.Create(Samples.topic("t", "1")));
    state = StateMachine.apply(state, first).state();
    apply(0, new TopicCommand.Delete("t", 1));
    for (int i = 0; i < 5; i++) {
      apply(0, new BusCommand.ExpireLeases());
    }
    assertThat(StateMachine.apply(state, first).result()).isInstanceOf(TopicCreated.class);
    apply(0, new BusCommand.ExpireLeases());
    assertThat(StateMachine.apply(state, first).result())
        .isEqualTo(
            new Refused(8, RegistryRefusalReason.ID_FORGOTTEN, "id.basis: 0 (expected: >= 4)"));
    assertThat(state.snapshot().topic("t")).isNull();
  }

  @Test
  void anIdOfAnotherRegistryIsRefused() {
    TimedCommand strange =
        new TimedCommand(new CommandId(5, 0, 0), 0, new BusCommand.ExpireLeases());
    assertThat(StateMachine.apply(state, strange).result())
        .isEqualTo(
            new Refused(
                0, RegistryRefusalReason.ID_FROM_THE_FUTURE, "id.basis: 5 (expected: <= 0)"));
  }

  @Test
  void busesAndTopicsAreBounded() {
    state = RegistryState.empty(new RegistryLimits(1, 1, 10), 1);
    registerA(0, 0);
    assertThat(refusal(apply(0, new BusCommand.Register(Samples.bus("b"), 0, 5_000))))
        .isEqualTo(RegistryRefusalReason.TOO_MANY_BUSES);
    apply(0, new TopicCommand.Create(Samples.topic("t", "1")));
    assertThat(refusal(apply(0, new TopicCommand.Create(Samples.topic("u", "1")))))
        .isEqualTo(RegistryRefusalReason.TOO_MANY_TOPICS);
  }

  @Test
  void aRevocationIsKeptForItsTimeAndOnlyEverGrows() {
    assertThat(apply(1_000, revoke("u1", 900, 500)))
        .isEqualTo(new CommandResult.SubjectRevoked(1, 900, 1_500));
    assertThat(changes)
        .extracting(RegistryChange::describe)
        .containsExactly(
            "client 'u1' of account 'acme': revoked what was issued before"
                + " 1970-01-01T00:00:00.900Z");
    assertThat(apply(1_100, revoke("u1", 800, 100)))
        .as("neither time goes back")
        .isEqualTo(new CommandResult.SubjectRevoked(2, 900, 1_500));
    assertThat(changes).isEmpty();
    assertThat(apply(1_499, new RevocationCommand.Expire()))
        .isEqualTo(new CommandResult.RevocationsExpired(3, 0));
    assertThat(apply(1_500, new RevocationCommand.Expire()))
        .isEqualTo(new CommandResult.RevocationsExpired(4, 1));
    assertThat(changes)
        .extracting(RegistryChange::describe)
        .containsExactly("client 'u1' of account 'acme': no longer revoked");
    assertThat(refusal(apply(1_500, new RevocationCommand.Lift(who("u1")))))
        .isEqualTo(RegistryRefusalReason.UNKNOWN_REVOCATION);
  }

  @Test
  void revocationsAreBounded() {
    for (int i = 0; i < RegistryLimits.MAX_REVOCATIONS; i++) {
      apply(0, revoke("u" + i, 0, 1_000)).expect(CommandResult.SubjectRevoked.class);
    }
    assertThat(refusal(apply(0, revoke("one-more", 0, 1_000))))
        .isEqualTo(RegistryRefusalReason.TOO_MANY_REVOCATIONS);
    apply(0, revoke("u7", 5, 1_000)).expect(CommandResult.SubjectRevoked.class);
    apply(0, new RevocationCommand.Lift(who("u0"))).expect(CommandResult.RevocationLifted.class);
    apply(0, revoke("one-more", 0, 1_000)).expect(CommandResult.SubjectRevoked.class);
  }

  @Test
  void namesOfClientsAreChecked() {
    assertThatIllegalArgumentException().isThrownBy(() -> who(""));
    assertThatIllegalArgumentException().isThrownBy(() -> who("a\nb"));
    assertThatIllegalArgumentException().isThrownBy(() -> who("a".repeat(769)));
    assertThat(who("ü".repeat(256)).subject()).hasSize(256);
    assertThatIllegalArgumentException().isThrownBy(() -> revoke("u1", -1, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> revoke("u1", 0, 0));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> revoke("u1", 0, RevocationCommand.Revoke.MAX_KEEP_MILLIS + 1));
  }

  private static AccountSubject who(String subject) {
    return new AccountSubject("acme", subject);
  }

  private static RevocationCommand revoke(String subject, long issuedBefore, long keep) {
    return new RevocationCommand.Revoke(who(subject), issuedBefore, keep);
  }

  private CommandResult registerA(long timeMillis, long replacesEpoch) {
    return apply(timeMillis, new BusCommand.Register(Samples.bus("a"), replacesEpoch, 5_000));
  }

  private CommandResult apply(long timeMillis, RegistryCommand command) {
    Applied applied = StateMachine.apply(state, command(timeMillis, command));
    state = applied.state();
    changes = applied.changes();
    return applied.result();
  }

  private TimedCommand command(long timeMillis, RegistryCommand command) {
    return Samples.at(timeMillis, state.snapshot().version(), nextId++, command);
  }

  private BusInfo bus() {
    BusInfo bus = state.snapshot().bus(A);
    assertThat(bus).isNotNull();
    return bus;
  }

  private static RegistryRefusalReason refusal(CommandResult result) {
    assertThat(result).isInstanceOf(Refused.class);
    return ((Refused) result).reason();
  }
}
