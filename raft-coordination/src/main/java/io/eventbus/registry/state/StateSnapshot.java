package io.eventbus.registry.state;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.TopicConfig;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** What readers see of a state, sharing everything with the snapshots before and after. */
record StateSnapshot(
    long version,
    long timeMillis,
    SortedTree<BusId, BusInfo> busesById,
    SortedTree<Integer, BusInfo> busesByNumber,
    SortedTree<String, TopicConfig> topicsByName)
    implements RegistrySnapshot {

  static StateSnapshot empty() {
    return new StateSnapshot(0, 0, SortedTree.empty(), SortedTree.empty(), SortedTree.empty());
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

  StateSnapshot at(long nextVersion, long nextTimeMillis) {
    return new StateSnapshot(nextVersion, nextTimeMillis, busesById, busesByNumber, topicsByName);
  }

  /** With this bus in place of the one with the same id, if there is one. */
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
        topicsByName);
  }

  StateSnapshot without(BusInfo bus) {
    return new StateSnapshot(
        version,
        timeMillis,
        busesById.without(bus.id()),
        busesByNumber.without(bus.number()),
        topicsByName);
  }

  StateSnapshot with(TopicConfig topic) {
    return new StateSnapshot(
        version, timeMillis, busesById, busesByNumber, topicsByName.with(topic.name(), topic));
  }

  StateSnapshot without(TopicConfig topic) {
    return new StateSnapshot(
        version, timeMillis, busesById, busesByNumber, topicsByName.without(topic.name()));
  }

  /** Short: a registry is too big to be printed whole. */
  @Override
  public String toString() {
    return "registry version "
        + version
        + " ("
        + busesById.size()
        + " buses, "
        + topicsByName.size()
        + " topics)";
  }
}
