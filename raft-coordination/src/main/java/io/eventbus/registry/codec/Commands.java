package io.eventbus.registry.codec;

import io.eventbus.registry.AccountSubject;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RevocationCommand;
import io.eventbus.registry.ShardCommand;
import io.eventbus.registry.TopicCommand;
import io.eventbus.registry.schema.ChangeBusStateData;
import io.eventbus.registry.schema.ChangeTopicData;
import io.eventbus.registry.schema.CommandData;
import io.eventbus.registry.schema.CreateTopicData;
import io.eventbus.registry.schema.DeleteTopicData;
import io.eventbus.registry.schema.ExpireLeasesData;
import io.eventbus.registry.schema.ExpireRevocationsData;
import io.eventbus.registry.schema.LiftRevocationData;
import io.eventbus.registry.schema.PlaceShardData;
import io.eventbus.registry.schema.RegisterBusData;
import io.eventbus.registry.schema.RemoveBusData;
import io.eventbus.registry.schema.RenewLeaseData;
import io.eventbus.registry.schema.RevokeSubjectData;
import io.eventbus.registry.state.TimedCommand;

/** Conversion between commands and their records. */
final class Commands {
  private Commands() {}

  static CommandData data(TimedCommand timed) {
    CommandId id = timed.id();
    return new CommandData(
        id.basis(), id.high(), id.low(), timed.timeMillis(), body(timed.command()));
  }

  static TimedCommand value(CommandData data) {
    return new TimedCommand(
        new CommandId(data.getBasis(), data.getHigh(), data.getLow()),
        data.getTimeMillis(),
        command(data.getCommand()));
  }

  /** Returns the first format that has such a command. */
  static int format(RegistryCommand command) {
    if (command instanceof BusCommand.Register c) {
      return Values.format(c.description());
    }
    return command instanceof ShardCommand ? 3 : command instanceof RevocationCommand ? 2 : 1;
  }

  private static Object body(RegistryCommand command) {
    if (command instanceof BusCommand.Register c) {
      return new RegisterBusData(Values.data(c.description()), c.replacesEpoch(), c.leaseMillis());
    }
    if (command instanceof BusCommand.ChangeState c) {
      return new ChangeBusStateData(c.bus().value(), c.epoch(), c.next().name());
    }
    if (command instanceof BusCommand.RenewLease c) {
      return new RenewLeaseData(c.bus().value(), c.epoch(), c.leaseMillis());
    }
    if (command instanceof BusCommand.ExpireLeases) {
      return new ExpireLeasesData();
    }
    if (command instanceof BusCommand.Remove c) {
      return new RemoveBusData(c.bus().value(), c.epoch());
    }
    if (command instanceof TopicCommand.Create c) {
      return new CreateTopicData(Values.data(c.spec()));
    }
    if (command instanceof TopicCommand.Change c) {
      return new ChangeTopicData(Values.data(c.spec()), c.expectedRevision());
    }
    if (command instanceof TopicCommand.Delete c) {
      return new DeleteTopicData(c.name(), c.expectedRevision());
    }
    if (command instanceof RevocationCommand.Revoke c) {
      return new RevokeSubjectData(
          c.who().account(), c.who().subject(), c.issuedBeforeMillis(), c.keepMillis());
    }
    if (command instanceof RevocationCommand.Lift c) {
      return new LiftRevocationData(c.who().account(), c.who().subject());
    }
    if (command instanceof RevocationCommand.Expire) {
      return new ExpireRevocationsData();
    }
    if (command instanceof ShardCommand.Place c) {
      return new PlaceShardData(c.number(), c.expectedVersion(), Values.data(c.replicas()));
    }
    throw new AssertionError("sealed: " + command.getClass());
  }

  private static RegistryCommand command(Object body) {
    if (body instanceof RegisterBusData d) {
      return new BusCommand.Register(
          Values.value(d.getDescription()), d.getReplacesEpoch(), d.getLeaseMillis());
    }
    if (body instanceof ChangeBusStateData d) {
      return new BusCommand.ChangeState(
          new BusId(d.getBus()), d.getEpoch(), BusState.valueOf(d.getNext()));
    }
    if (body instanceof RenewLeaseData d) {
      return new BusCommand.RenewLease(new BusId(d.getBus()), d.getEpoch(), d.getLeaseMillis());
    }
    if (body instanceof ExpireLeasesData) {
      return new BusCommand.ExpireLeases();
    }
    if (body instanceof RemoveBusData d) {
      return new BusCommand.Remove(new BusId(d.getBus()), d.getEpoch());
    }
    if (body instanceof CreateTopicData d) {
      return new TopicCommand.Create(Values.value(d.getSpec()));
    }
    if (body instanceof ChangeTopicData d) {
      return new TopicCommand.Change(Values.value(d.getSpec()), d.getExpectedRevision());
    }
    if (body instanceof DeleteTopicData d) {
      return new TopicCommand.Delete(d.getName(), d.getExpectedRevision());
    }
    if (body instanceof RevokeSubjectData d) {
      return new RevocationCommand.Revoke(
          new AccountSubject(d.getAccount(), d.getSubject()),
          d.getIssuedBeforeMillis(),
          d.getKeepMillis());
    }
    if (body instanceof LiftRevocationData d) {
      return new RevocationCommand.Lift(new AccountSubject(d.getAccount(), d.getSubject()));
    }
    if (body instanceof ExpireRevocationsData) {
      return new RevocationCommand.Expire();
    }
    if (body instanceof PlaceShardData d) {
      return new ShardCommand.Place(
          d.getNumber(), d.getExpectedVersion(), Values.value(d.getReplicas()));
    }
    throw new IllegalArgumentException("command: " + body.getClass().getSimpleName());
  }
}
