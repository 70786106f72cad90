package io.eventbus.registry.ratis.admin;

import io.eventbus.raft.RatisGroup;
import io.eventbus.raft.repair.VoterChanges;
import io.eventbus.registry.AdministrationRefusedException;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryUnavailableException;
import io.eventbus.registry.membership.VoterPolicy;
import io.eventbus.registry.membership.VoterRequests;
import io.eventbus.registry.ratis.forward.CommandGate;
import java.util.concurrent.CompletableFuture;

/** Execution of operators' requests, at the leader. Any thread; nothing waits. */
public final class LeaderAdministration {
  private final RatisGroup group;
  private final CommandGate gate;
  private final MemberView view;
  private final VoterRequests requests;

  /** Creates the execution at a bus that may lead. */
  public LeaderAdministration(
      RatisGroup group, CommandGate gate, MemberView view, VoterPolicy policy) {
    this.group = group;
    this.gate = gate;
    this.view = view;
    this.requests = new VoterRequests(policy);
  }

  CompletableFuture<Void> carryOut(AdministrationRequest request) {
    VoterPolicy.Situation situation = view.situation(group);
    if (situation == null) {
      return CompletableFuture.failedFuture(
          new RegistryUnavailableException("this bus leads no more"));
    }
    return switch (request.operation()) {
      case TRANSFER -> transfer(situation, request);
      case PROMOTE -> vote(promote(situation, request));
      case DEMOTE -> vote(requests.demote(situation, request.bus().value()));
      case REMOVE ->
          expel(
              situation,
              request.bus(),
              requests.remove(situation, request.bus().value(), request.again()));
      case LEAVE ->
          expel(situation, request.bus(), requests.leave(situation, request.bus().value()));
    };
  }

  private CompletableFuture<Void> transfer(
      VoterPolicy.Situation situation, AdministrationRequest request) {
    String bus = request.bus().value();
    if (bus.equals(situation.leader())) {
      return CompletableFuture.completedFuture(null);
    }
    if (!situation.voters().contains(bus)) {
      return refused("bus " + bus + " has no vote (expected: one of " + situation.voters() + ")");
    }
    BusInfo info = situation.snapshot().bus(request.bus());
    if (info != null && info.state() == BusState.DOWN) {
      return refused("bus " + bus + " is DOWN (expected: that it is there)");
    }
    return group.transferLeadership(bus, request.millis());
  }

  private VoterRequests.Answer promote(
      VoterPolicy.Situation situation, AdministrationRequest request) {
    BusId other = request.other();
    return requests.promote(situation, request.bus().value(), other == null ? null : other.value());
  }

  private CompletableFuture<Void> vote(VoterRequests.Answer answer) {
    VoterPolicy.Step step = answer.step();
    if (step == null) {
      return refused(String.valueOf(answer.refusal()));
    }
    return step.out() == null && step.in() == null
        ? CompletableFuture.completedFuture(null)
        : VoterChanges.apply(group, group.members(), step.out(), step.in());
  }

  private CompletableFuture<Void> expel(
      VoterPolicy.Situation situation, BusId bus, VoterRequests.Answer answer) {
    return vote(answer)
        .thenCompose(nothing -> VoterChanges.expel(group, bus.value()))
        .thenCompose(nothing -> forget(situation, bus));
  }

  /** Takes the bus DOWN, if it is not, and removes it from the registry. */
  private CompletableFuture<Void> forget(VoterPolicy.Situation situation, BusId bus) {
    BusInfo info = situation.snapshot().bus(bus);
    if (info == null) {
      return CompletableFuture.completedFuture(null);
    }
    CompletableFuture<Void> down =
        info.state() == BusState.DOWN
            ? CompletableFuture.completedFuture(null)
            : submit(situation, new BusCommand.ChangeState(bus, info.epoch(), BusState.DOWN), bus);
    return down.thenCompose(
        nothing -> submit(situation, new BusCommand.Remove(bus, info.epoch()), bus));
  }

  private CompletableFuture<Void> submit(
      VoterPolicy.Situation situation, RegistryCommand command, BusId bus) {
    return gate.submit(CommandId.random(situation.snapshot().version()), command)
        .thenCompose(
            result ->
                result instanceof CommandResult.Refused refused
                    ? refused("bus " + bus + " is no member any more, but: " + refused.message())
                    : CompletableFuture.completedFuture(null));
  }

  private static CompletableFuture<Void> refused(String why) {
    return CompletableFuture.failedFuture(new AdministrationRefusedException(why));
  }
}
