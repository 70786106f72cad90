package io.eventbus.registry.state;

import io.eventbus.registry.AccountSubject;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.CommandResult.Refused;
import io.eventbus.registry.Lease;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryRefusalReason;
import io.eventbus.registry.Revocation;
import io.eventbus.registry.RevocationCommand;
import io.eventbus.registry.ShardCommand;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.ShardReplica;
import io.eventbus.registry.TopicCommand;
import io.eventbus.registry.TopicConfig;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Plain registry, mutable, and with no bound on its memory. */
final class PlainModel {
  final TreeMap<BusId, BusInfo> buses = new TreeMap<>();
  final TreeMap<String, TopicConfig> topics = new TreeMap<>();
  final TreeMap<AccountSubject, Revocation> revocations = new TreeMap<>();
  final TreeMap<Integer, ShardInfo> shards = new TreeMap<>();
  final Map<Object, CommandResult> results = new HashMap<>();
  final RegistryLimits limits;
  long version;
  long time;
  int nextNumber;

  PlainModel(RegistryLimits limits, int firstNumber) {
    this.limits = limits;
    this.nextNumber = firstNumber;
  }

  /** Applies a command that is new; messages of refusals are left empty. */
  CommandResult apply(TimedCommand command) {
    version++;
    time = Math.max(time, command.timeMillis());
    CommandResult result = result(command.command());
    results.put(command.id(), result);
    return result;
  }

  private CommandResult result(RegistryCommand command) {
    if (command instanceof BusCommand.Register c) {
      BusInfo old = buses.get(c.description().id());
      if (old != null
          && old.state() != BusState.DOWN
          && old.lease().expiresAtMillis() > time
          && old.epoch() != c.replacesEpoch()) {
        return refused(RegistryRefusalReason.BUS_ID_IN_USE);
      }
      if (old == null && buses.size() == limits.maxBuses()) {
        return refused(RegistryRefusalReason.TOO_MANY_BUSES);
      }
      Lease lease = new Lease(c.leaseMillis(), time + c.leaseMillis());
      BusInfo bus = new BusInfo(c.description(), nextNumber++, version, BusState.JOINING, lease);
      buses.put(bus.id(), bus);
      return new CommandResult.BusRegistered(
          version, bus.number(), version, lease.expiresAtMillis());
    }
    if (command instanceof BusCommand.ChangeState c) {
      BusInfo bus = buses.get(c.bus());
      if (bus == null || bus.epoch() != c.epoch()) {
        return notMeant(bus);
      }
      String move = bus.state() + ">" + c.next();
      if (!List.of("JOINING>UP", "UP>DRAINING", "DRAINING>UP").contains(move)
          && (c.next() != BusState.DOWN || bus.state() == BusState.DOWN)) {
        return refused(RegistryRefusalReason.ILLEGAL_TRANSITION);
      }
      buses.put(c.bus(), bus.withState(c.next()));
      return new CommandResult.BusStateChanged(version, bus.state(), c.next());
    }
    if (command instanceof BusCommand.RenewLease c) {
      BusInfo bus = buses.get(c.bus());
      if (bus == null || bus.epoch() != c.epoch()) {
        return notMeant(bus);
      }
      if (bus.state() == BusState.DOWN) {
        return refused(RegistryRefusalReason.BUS_IS_DOWN);
      }
      if (time + c.leaseMillis() > bus.lease().expiresAtMillis()) {
        bus = bus.withLease(new Lease(c.leaseMillis(), time + c.leaseMillis()));
        buses.put(c.bus(), bus);
      }
      return new CommandResult.LeaseRenewed(version, bus.lease().expiresAtMillis());
    }
    if (command instanceof BusCommand.ExpireLeases) {
      List<BusId> expired = new ArrayList<>();
      for (BusInfo bus : List.copyOf(buses.values())) {
        if (bus.state() != BusState.DOWN && bus.lease().expiresAtMillis() <= time) {
          buses.put(bus.id(), bus.withState(BusState.DOWN));
          expired.add(bus.id());
        }
      }
      return new CommandResult.LeasesExpired(version, expired);
    }
    if (command instanceof BusCommand.Remove c) {
      BusInfo bus = buses.get(c.bus());
      if (bus == null || bus.epoch() != c.epoch()) {
        return notMeant(bus);
      }
      if (bus.state() != BusState.DOWN) {
        return refused(RegistryRefusalReason.BUS_NOT_DOWN);
      }
      buses.remove(c.bus());
      return new CommandResult.BusRemoved(version);
    }
    if (command instanceof ShardCommand.Place place) {
      return placeResult(place);
    }
    return command instanceof RevocationCommand revocation
        ? revocationResult(revocation)
        : topicResult((TopicCommand) command);
  }

  private CommandResult revocationResult(RevocationCommand command) {
    if (command instanceof RevocationCommand.Revoke c) {
      Revocation old = revocations.getOrDefault(c.who(), new Revocation(c.who(), 0, 0));
      Revocation now =
          new Revocation(
              c.who(),
              Math.max(old.issuedBeforeMillis(), c.issuedBeforeMillis()),
              Math.max(old.expiresAtMillis(), time + c.keepMillis()));
      revocations.put(c.who(), now);
      return new CommandResult.SubjectRevoked(
          version, now.issuedBeforeMillis(), now.expiresAtMillis());
    }
    if (command instanceof RevocationCommand.Lift c) {
      return revocations.remove(c.who()) == null
          ? refused(RegistryRefusalReason.UNKNOWN_REVOCATION)
          : new CommandResult.RevocationLifted(version);
    }
    int before = revocations.size();
    revocations.values().removeIf(each -> each.expiresAtMillis() <= time);
    return new CommandResult.RevocationsExpired(version, before - revocations.size());
  }

  private CommandResult placeResult(ShardCommand.Place c) {
    ShardInfo old = shards.get(c.number());
    if (c.expectedVersion() != (old == null ? 0 : old.version())) {
      return refused(RegistryRefusalReason.STALE_SHARD);
    }
    for (ShardReplica replica : c.replicas()) {
      BusInfo bus = buses.get(replica.bus());
      if (old != null && old.replicas().contains(replica)) {
        continue;
      }
      if (bus == null) {
        return refused(RegistryRefusalReason.UNKNOWN_BUS);
      }
      if (bus.description().storage() != replica.generation()) {
        return refused(RegistryRefusalReason.STORAGE_DIFFERS);
      }
    }
    shards.put(c.number(), new ShardInfo(c.number(), version, c.replicas()));
    return new CommandResult.ShardPlaced(version);
  }

  private CommandResult topicResult(TopicCommand command) {
    if (command instanceof TopicCommand.Create c) {
      if (topics.containsKey(c.spec().name())) {
        return refused(RegistryRefusalReason.TOPIC_EXISTS);
      }
      if (topics.size() == limits.maxTopics()) {
        return refused(RegistryRefusalReason.TOO_MANY_TOPICS);
      }
      topics.put(c.spec().name(), new TopicConfig(c.spec(), version, version));
      return new CommandResult.TopicCreated(version);
    }
    if (command instanceof TopicCommand.Change c) {
      TopicConfig topic = topics.get(c.spec().name());
      if (topic == null) {
        return refused(RegistryRefusalReason.UNKNOWN_TOPIC);
      }
      if (topic.revision() != c.expectedRevision()) {
        return refused(RegistryRefusalReason.STALE_REVISION);
      }
      topics.put(c.spec().name(), new TopicConfig(c.spec(), topic.created(), version));
      return new CommandResult.TopicChanged(version);
    }
    TopicCommand.Delete c = (TopicCommand.Delete) command;
    TopicConfig topic = topics.get(c.name());
    if (topic == null) {
      return refused(RegistryRefusalReason.UNKNOWN_TOPIC);
    }
    if (topic.revision() != c.expectedRevision()) {
      return refused(RegistryRefusalReason.STALE_REVISION);
    }
    topics.remove(c.name());
    return new CommandResult.TopicDeleted(version);
  }

  private Refused notMeant(@Nullable BusInfo bus) {
    return refused(
        bus == null ? RegistryRefusalReason.UNKNOWN_BUS : RegistryRefusalReason.STALE_EPOCH);
  }

  private Refused refused(RegistryRefusalReason reason) {
    return new Refused(version, reason, "");
  }
}
