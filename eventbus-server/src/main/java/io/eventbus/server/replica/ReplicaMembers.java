package io.eventbus.server.replica;

import io.eventbus.journal.ratis.ShardMember;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.ShardReplica;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Replicas of a shard by the registry, with the addresses of their buses. */
final class ReplicaMembers {
  private ReplicaMembers() {}

  /**
   * Returns the replicas that the registry names, and that of this bus, which follows if it is not
   * named.
   *
   * @param file what this bus knows of them, with addresses of buses that are not registered
   * @param address where the links of this bus are reached
   * @throws IOException if this bus is to begin the shard, and not all addresses are known
   */
  static List<ShardMember> of(
      RegistrySnapshot snapshot, ShardInfo shard, ReplicaFile file, String address)
      throws IOException {
    List<ShardMember> members = new ArrayList<>();
    String unknown = null;
    boolean named = false;
    boolean votes = false;
    for (ShardReplica replica : shard.replicas()) {
      String id = ShardMember.id(replica.bus().value(), replica.generation());
      BusInfo bus = snapshot.bus(replica.bus());
      Endpoint peers = bus == null ? null : bus.addresses().peers();
      String shown = peers != null ? peers.toString() : known(file, id);
      if (id.equals(file.member())) {
        named = true;
        votes = replica.voter();
        members.add(new ShardMember(id, address, replica.voter()));
      } else if (shown == null) {
        unknown = id;
      } else {
        members.add(new ShardMember(id, shown, replica.voter()));
      }
    }
    if (!named) {
      members.add(new ShardMember(file.member(), address, false));
    }
    if (votes && unknown != null && !file.opened()) {
      // The voters with which a shard begins must be the same at all of them.
      throw new IOException("no address of " + unknown + " (expected: a registered bus)");
    }
    return members;
  }

  private static @Nullable String known(ReplicaFile file, String id) {
    return file.members().stream()
        .filter(member -> member.id().equals(id))
        .findFirst()
        .map(ShardMember::address)
        .orElse(null);
  }
}
