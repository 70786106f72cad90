package io.eventbus.registry.codec;

import io.eventbus.registry.AccountSubject;
import io.eventbus.registry.BusAddresses;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.Lease;
import io.eventbus.registry.Revocation;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.ShardReplica;
import io.eventbus.registry.TopicConfig;
import io.eventbus.registry.TopicSpec;
import io.eventbus.registry.schema.DescriptionData;
import io.eventbus.registry.schema.EndpointData;
import io.eventbus.registry.schema.ShardReplicaData;
import io.eventbus.registry.schema.SnapshotBusData;
import io.eventbus.registry.schema.SnapshotRevocationData;
import io.eventbus.registry.schema.SnapshotShardData;
import io.eventbus.registry.schema.SnapshotTopicData;
import io.eventbus.registry.schema.SpecData;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Conversion between the registry's values and their records. The constructors of the values do the
 * checking.
 */
final class Values {
  private Values() {}

  static DescriptionData data(BusDescription bus) {
    BusAddresses addresses = bus.addresses();
    return new DescriptionData(
        bus.id().value(),
        addresses.clients(),
        data(addresses.peers()),
        data(addresses.administration()),
        data(addresses.raft()),
        bus.zone(),
        bus.softwareVersion(),
        bus.protocolVersion(),
        bus.storage());
  }

  static BusDescription value(DescriptionData data) {
    return new BusDescription(
        new BusId(data.getId()),
        new BusAddresses(
            data.getClients(),
            value(data.getPeers()),
            value(data.getAdministration()),
            value(data.getRaft())),
        data.getZone(),
        data.getSoftwareVersion(),
        data.getProtocolVersion(),
        data.getStorage());
  }

  /** Returns the first format that has such a description. */
  static int format(BusDescription bus) {
    return bus.storage() == 0 ? 1 : 3;
  }

  static @Nullable EndpointData data(@Nullable Endpoint endpoint) {
    return endpoint == null ? null : new EndpointData(endpoint.host(), endpoint.port());
  }

  static @Nullable Endpoint value(@Nullable EndpointData data) {
    return data == null ? null : new Endpoint(data.getHost(), data.getPort());
  }

  static SpecData data(TopicSpec spec) {
    return new SpecData(spec.name(), spec.settings());
  }

  static TopicSpec value(SpecData data) {
    return new TopicSpec(data.getName(), data.getSettings());
  }

  static SnapshotBusData data(BusInfo bus) {
    return new SnapshotBusData(
        data(bus.description()),
        bus.number(),
        bus.epoch(),
        bus.state().name(),
        bus.lease().durationMillis(),
        bus.lease().expiresAtMillis());
  }

  static BusInfo value(SnapshotBusData data) {
    return new BusInfo(
        value(data.getDescription()),
        data.getNumber(),
        data.getEpoch(),
        BusState.valueOf(data.getState()),
        new Lease(data.getLeaseMillis(), data.getLeaseExpiresAtMillis()));
  }

  static SnapshotRevocationData data(Revocation revocation) {
    return new SnapshotRevocationData(
        revocation.who().account(),
        revocation.who().subject(),
        revocation.issuedBeforeMillis(),
        revocation.expiresAtMillis());
  }

  static Revocation value(SnapshotRevocationData data) {
    return new Revocation(
        new AccountSubject(data.getAccount(), data.getSubject()),
        data.getIssuedBeforeMillis(),
        data.getExpiresAtMillis());
  }

  static SnapshotTopicData data(TopicConfig topic) {
    return new SnapshotTopicData(data(topic.spec()), topic.created(), topic.revision());
  }

  static TopicConfig value(SnapshotTopicData data) {
    return new TopicConfig(value(data.getSpec()), data.getCreated(), data.getRevision());
  }

  static List<ShardReplicaData> data(List<ShardReplica> replicas) {
    return replicas.stream()
        .map(
            replica ->
                new ShardReplicaData(replica.bus().value(), replica.generation(), replica.voter()))
        .toList();
  }

  static List<ShardReplica> value(List<ShardReplicaData> replicas) {
    return replicas.stream()
        .map(
            data ->
                new ShardReplica(new BusId(data.getBus()), data.getGeneration(), data.getVoter()))
        .toList();
  }

  static SnapshotShardData data(ShardInfo shard) {
    return new SnapshotShardData(shard.number(), shard.version(), data(shard.replicas()));
  }

  static ShardInfo value(SnapshotShardData data) {
    return new ShardInfo(data.getNumber(), data.getVersion(), value(data.getReplicas()));
  }
}
