package io.eventbus.registry.state;

import io.eventbus.registry.BusInfo;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.Revocation;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.TopicConfig;
import java.util.ArrayList;
import java.util.List;

/**
 * Difference between two snapshots of one registry, for listeners that were not there while it
 * changed. Any thread may call it.
 */
public final class StateDiff {
  private StateDiff() {}

  /**
   * Lists the changes that lead from one snapshot to a later one. If a bus or a topic has changed
   * more than once, the list has one change that stands for all.
   *
   * @param before the earlier snapshot
   * @param after the later one
   */
  public static List<RegistryChange> between(RegistrySnapshot before, RegistrySnapshot after) {
    List<RegistryChange> changes = new ArrayList<>();
    for (BusInfo bus : before.buses()) {
      if (after.bus(bus.id()) == null) {
        changes.add(new RegistryChange.BusRemoved(bus));
      }
    }
    for (TopicConfig topic : before.topics()) {
      if (after.topic(topic.name()) == null) {
        changes.add(new RegistryChange.TopicDeleted(topic));
      }
    }
    for (Revocation revocation : before.revocations()) {
      if (after.revocation(revocation.who()) == null) {
        changes.add(new RegistryChange.RevocationEnded(revocation));
      }
    }
    for (BusInfo bus : after.buses()) {
      BusInfo previous = before.bus(bus.id());
      if (previous == null || previous.epoch() != bus.epoch()) {
        changes.add(new RegistryChange.BusRegistered(bus, previous));
      } else if (previous.state() != bus.state()) {
        changes.add(new RegistryChange.BusStateChanged(bus, previous.state()));
      }
    }
    for (TopicConfig topic : after.topics()) {
      TopicConfig previous = before.topic(topic.name());
      if (previous == null) {
        changes.add(new RegistryChange.TopicCreated(topic));
      } else if (previous.revision() != topic.revision()) {
        changes.add(new RegistryChange.TopicChanged(topic, previous));
      }
    }
    for (Revocation revocation : after.revocations()) {
      if (!revocation.equals(before.revocation(revocation.who()))) {
        changes.add(new RegistryChange.SubjectRevoked(revocation));
      }
    }
    for (ShardInfo shard : after.shards()) {
      ShardInfo previous = before.shard(shard.number());
      if (previous == null || previous.version() != shard.version()) {
        changes.add(new RegistryChange.ShardPlaced(shard, previous));
      }
    }
    return changes;
  }
}
