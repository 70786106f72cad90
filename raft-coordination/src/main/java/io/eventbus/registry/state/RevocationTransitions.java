package io.eventbus.registry.state;

import io.eventbus.registry.AccountSubject;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.RegistryRefusalReason;
import io.eventbus.registry.Revocation;
import io.eventbus.registry.RevocationCommand;
import java.util.ArrayList;
import java.util.List;

/** Transitions by commands about revocations; the given state has the new version already. */
final class RevocationTransitions {
  private RevocationTransitions() {}

  static Applied apply(RegistryState state, RevocationCommand command) {
    if (command instanceof RevocationCommand.Revoke revoke) {
      return revoke(state, revoke);
    }
    if (command instanceof RevocationCommand.Lift lift) {
      return lift(state, lift.who());
    }
    if (command instanceof RevocationCommand.Expire) {
      return expire(state);
    }
    throw new AssertionError("sealed: " + command.getClass());
  }

  private static Applied revoke(RegistryState state, RevocationCommand.Revoke command) {
    StateSnapshot view = state.view();
    Revocation present = view.revocation(command.who());
    int max = RegistryLimits.MAX_REVOCATIONS;
    if (present == null && view.revocationsByWho().size() >= max) {
      return StateMachine.refused(
          state,
          RegistryRefusalReason.TOO_MANY_REVOCATIONS,
          "revocations: " + view.revocationsByWho().size() + " (expected: < " + max + ")");
    }
    long now = view.timeMillis();
    long keep = command.keepMillis();
    long issuedBefore = command.issuedBeforeMillis();
    long expiresAt = now > Long.MAX_VALUE - keep ? Long.MAX_VALUE : now + keep;
    if (present != null) {
      issuedBefore = Math.max(issuedBefore, present.issuedBeforeMillis());
      expiresAt = Math.max(expiresAt, present.expiresAtMillis());
    }
    Revocation revocation = new Revocation(command.who(), issuedBefore, expiresAt);
    CommandResult result =
        new CommandResult.SubjectRevoked(view.version(), issuedBefore, expiresAt);
    return revocation.equals(present)
        ? new Applied(state, result, List.of())
        : new Applied(
            state.with(view.with(revocation), state.nextNumber()),
            result,
            List.of(new RegistryChange.SubjectRevoked(revocation)));
  }

  private static Applied lift(RegistryState state, AccountSubject who) {
    StateSnapshot view = state.view();
    Revocation present = view.revocation(who);
    if (present == null) {
      return StateMachine.refused(
          state,
          RegistryRefusalReason.UNKNOWN_REVOCATION,
          who + " has no revocation (expected: one)");
    }
    return new Applied(
        state.with(view.without(present), state.nextNumber()),
        new CommandResult.RevocationLifted(view.version()),
        List.of(new RegistryChange.RevocationEnded(present)));
  }

  private static Applied expire(RegistryState state) {
    StateSnapshot view = state.view();
    List<RegistryChange> changes = new ArrayList<>();
    for (Revocation revocation : state.view().revocations()) {
      if (revocation.isExpiredAt(view.timeMillis())) {
        view = view.without(revocation);
        changes.add(new RegistryChange.RevocationEnded(revocation));
      }
    }
    return new Applied(
        state.with(view, state.nextNumber()),
        new CommandResult.RevocationsExpired(view.version(), changes.size()),
        changes);
  }
}
