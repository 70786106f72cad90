package io.eventbus.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.AccountSubject;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RevocationCommand;
import io.eventbus.registry.TopicCommand;
import io.eventbus.registry.TopicSpec;
import io.eventbus.registry.state.Applied;
import io.eventbus.registry.state.RegistryLimits;
import io.eventbus.registry.state.RegistryState;
import io.eventbus.registry.state.StateMachine;
import io.eventbus.registry.state.TimedCommand;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.security.RevocationList;
import io.eventbus.server.security.Revocations;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RegistryRevocationsTest {
  private static final AccountSubject WHO = new AccountSubject("acme", "u1");

  private final Revocations revocations = new Revocations();
  private final List<Advisory> audited = new ArrayList<>();
  private final RegistryRevocations listener;
  private RegistryState registry = RegistryState.empty(RegistryLimits.DEFAULT, 1);

  RegistryRevocationsTest() {
    Advisories advisories = new Advisories();
    advisories.audit(audited::add);
    listener = new RegistryRevocations(revocations, advisories);
  }

  private Applied apply(RegistryCommand command) {
    long version = registry.snapshot().version();
    Applied applied =
        StateMachine.apply(
            registry, new TimedCommand(new CommandId(version, 0, version), 1, command));
    registry = applied.state();
    return applied;
  }

  private boolean covers(long issuedAtMillis) {
    return revocations.current().covers("acme", "u1", Instant.ofEpochMilli(issuedAtMillis));
  }

  private static RegistryCommand revoke(long issuedBefore) {
    return new RevocationCommand.Revoke(WHO, issuedBefore, 1_000);
  }

  @Test
  void revocationsOfTheRegistryHoldUntilLifted() {
    listener.onSnapshot(registry.snapshot(), List.of());
    assertThat(covers(0)).isFalse();
    Applied revoked = apply(revoke(500));
    listener.onSnapshot(revoked.state().snapshot(), revoked.changes());
    assertThat(covers(499)).isTrue();
    assertThat(covers(500)).isFalse();
    assertThat(revocations.current().covers("", "u1", Instant.EPOCH)).isFalse();
    Applied lifted = apply(new RevocationCommand.Lift(WHO));
    listener.onSnapshot(lifted.state().snapshot(), lifted.changes());
    assertThat(covers(0)).isFalse();
    assertThat(audited)
        .containsExactly(
            new Advisory.RevocationChanged("acme", "u1", "1970-01-01T00:00:00.500Z"),
            new Advisory.RevocationChanged("acme", "u1", ""));
  }

  /** A bus that starts, or returns, has the whole list at once. */
  @Test
  void theFirstSnapshotCounts() {
    apply(revoke(500));
    listener.onSnapshot(registry.snapshot(), List.of());
    assertThat(covers(499)).isTrue();
    assertThat(audited).as("this is no news").isEmpty();
  }

  /** A reader that compares lists must not check again for every renewed lease. */
  @Test
  void theListStaysTheSameWhereNothingElseIsRevoked() {
    apply(revoke(500));
    listener.onSnapshot(registry.snapshot(), List.of());
    RevocationList before = revocations.current();
    Applied other = apply(new TopicCommand.Create(new TopicSpec("t", Map.of())));
    listener.onSnapshot(other.state().snapshot(), other.changes());
    listener.onSnapshot(other.state().snapshot(), List.of());
    assertThat(revocations.current()).isSameAs(before);
  }
}
