package io.eventbus.registry.state;

import io.eventbus.registry.AccountSubject;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.Revocation;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.TopicConfig;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** Snapshot of a state for readers, which shares everything with the snapshots before and after. */
record StateSnapshot(
    long version,
    long timeMillis,
    SortedTree<BusId, BusInfo> busesById,
    SortedTree<Integer, BusInfo> busesByNumber,
    SortedTree<String, TopicConfig> topicsByName,
    SortedTree<AccountSubject, Revocation> revocationsByWho,
    SortedTree<Integer, ShardInfo> shardsByNumber)
    implements RegistrySnapshot {

  static StateSnapshot empty() {
    return new StateSnapshot(
        0,
        0,
        SortedTree.empty(),
        SortedTree.empty(),
        SortedTree.empty(),
        SortedTree.empty(),
        SortedTree.empty());
  }

  /**
   * Restores a snapshot from an image.
   *
   * @throws IllegalArgumentException if no registry can look like that
   */
  static StateSnapshot restore(RegistryImage image) {
    Images.range("version", image.version(), 0, Long.MAX_VALUE);
    Images.range("timeMillis", image.timeMillis(), 0, Long.MAX_VALUE);
    Images.range("nextNumber", image.nextNumber(), 1, Integer.MAX_VALUE + 1L);
    Images.range("buses.size", image.buses().size(), 0, image.limits().maxBuses());
    Images.range("topics.size", image.topics().size(), 0, image.limits().maxTopics());
    Images.range("revocations.size", image.revocations().size(), 0, RegistryLimits.MAX_REVOCATIONS);
    StateSnapshot snapshot = empty().at(image.version(), image.timeMillis());
    for (BusInfo bus : image.buses()) {
      Images.range("number of bus " + bus.id(), bus.number(), 1, image.nextNumber() - 1);
      Images.range("epoch of bus " + bus.id(), bus.epoch(), 1, image.version());
      snapshot = snapshot.with(bus);
    }
    Images.distinct("buses", snapshot.busesById.size(), image.buses().size());
    Images.distinct("numbers of buses", snapshot.busesByNumber.size(), image.buses().size());
    for (TopicConfig topic : image.topics()) {
      Images.range("revision of a topic", topic.revision(), 1, image.version());
      snapshot = snapshot.with(topic);
    }
    Images.distinct("topics", snapshot.topicsByName.size(), image.topics().size());
    for (Revocation revocation : image.revocations()) {
      snapshot = snapshot.with(revocation);
    }
    Images.distinct("revocations", snapshot.revocationsByWho.size(), image.revocations().size());
    Images.range("shards.size", image.shards().size(), 0, ShardInfo.MAX_SHARDS);
    for (ShardInfo shard : image.shards()) {
      Images.range("version of shard " + shard.number(), shard.version(), 1, image.version());
      snapshot = snapshot.with(shard);
    }
    Images.distinct("shards", snapshot.shardsByNumber.size(), image.shards().size());
    return snapshot;
  }

  @Override
  public @Nullable BusInfo bus(BusId id) {
    return busesById.get(id);
  }

  @Override
  public @Nullable BusInfo bus(int number) {
    return busesByNumber.get(number);
  }

  @Override
  public Collection<BusInfo> buses() {
    return busesById.values();
  }

  @Override
  public @Nullable TopicConfig topic(String name) {
    return topicsByName.get(name);
  }

  @Override
  public Collection<TopicConfig> topics() {
    return topicsByName.values();
  }

  @Override
  public @Nullable Revocation revocation(AccountSubject who) {
    return revocationsByWho.get(who);
  }

  @Override
  public Collection<Revocation> revocations() {
    return revocationsByWho.values();
  }

  @Override
  public @Nullable ShardInfo shard(int number) {
    return shardsByNumber.get(number);
  }

  @Override
  public Collection<ShardInfo> shards() {
    return shardsByNumber.values();
  }

  StateSnapshot at(long nextVersion, long nextTimeMillis) {
    return new StateSnapshot(
        nextVersion,
        nextTimeMillis,
        busesById,
        busesByNumber,
        topicsByName,
        revocationsByWho,
        shardsByNumber);
  }

  /** Returns a snapshot with this bus in place of the one with the same id, if there is one. */
  StateSnapshot with(BusInfo bus) {
    SortedTree<Integer, BusInfo> numbers = busesByNumber;
    BusInfo previous = busesById.get(bus.id());
    if (previous != null && previous.number() != bus.number()) {
      numbers = numbers.without(previous.number());
    }
    return new StateSnapshot(
        version,
        timeMillis,
        busesById.with(bus.id(), bus),
        numbers.with(bus.number(), bus),
        topicsByName,
        revocationsByWho,
        shardsByNumber);
  }

  StateSnapshot without(BusInfo bus) {
    return new StateSnapshot(
        version,
        timeMillis,
        busesById.without(bus.id()),
        busesByNumber.without(bus.number()),
        topicsByName,
        revocationsByWho,
        shardsByNumber);
  }

  StateSnapshot with(TopicConfig topic) {
    return withTopics(topicsByName.with(topic.name(), topic));
  }

  StateSnapshot without(TopicConfig topic) {
    return withTopics(topicsByName.without(topic.name()));
  }

  private StateSnapshot withTopics(SortedTree<String, TopicConfig> topics) {
    return new StateSnapshot(
        version, timeMillis, busesById, busesByNumber, topics, revocationsByWho, shardsByNumber);
  }

  StateSnapshot with(Revocation revocation) {
    return withRevocations(revocationsByWho.with(revocation.who(), revocation));
  }

  StateSnapshot without(Revocation revocation) {
    return withRevocations(revocationsByWho.without(revocation.who()));
  }

  private StateSnapshot withRevocations(SortedTree<AccountSubject, Revocation> revocations) {
    return new StateSnapshot(
        version, timeMillis, busesById, busesByNumber, topicsByName, revocations, shardsByNumber);
  }

  StateSnapshot with(ShardInfo shard) {
    return new StateSnapshot(
        version,
        timeMillis,
        busesById,
        busesByNumber,
        topicsByName,
        revocationsByWho,
        shardsByNumber.with(shard.number(), shard));
  }

  /** Returns a short text: a registry is too big to be printed whole. */
  @Override
  public String toString() {
    return "registry version "
        + version
        + " ("
        + busesById.size()
        + " buses, "
        + topicsByName.size()
        + " topics, "
        + revocationsByWho.size()
        + " revocations, "
        + shardsByNumber.size()
        + " shards)";
  }
}
