package io.eventbus.server.federation;

import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.server.federation.call.PeerServices;
import io.eventbus.server.federation.interest.InterestExchange;
import io.eventbus.server.federation.lane.LaneLoop;
import io.eventbus.server.federation.lane.Lanes;
import io.eventbus.server.federation.lane.Peer;
import io.eventbus.server.federation.lane.Peers;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the registry: opens lanes to the peers that it lists, and keeps looking for a while for
 * those that it no longer lists, because they may only be on the other side of a cut. Confined to
 * the first loop except for {@link #onSnapshot}.
 */
final class PeerTracker {
  private static final Logger LOG = LoggerFactory.getLogger(PeerTracker.class);

  /** Time that a peer lost by the registry is looked for. */
  private static final long MEMORY_NANOS = TimeUnit.MINUTES.toNanos(10);

  private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Lanes lanes;
  private final InterestExchange exchange;
  private final PeerServices services;
  private final AtomicReference<@Nullable RegistrySnapshot> newest = new AtomicReference<>();
  private final Map<Peer, Long> lastSeen = new HashMap<>();
  private long checkedAt;

  PeerTracker(Lanes lanes, InterestExchange exchange, PeerServices services) {
    this.lanes = lanes;
    this.services = services;
    this.exchange = exchange;
  }

  /** Called on the registry's thread. */
  void onSnapshot(RegistrySnapshot snapshot) {
    if (newest.getAndSet(snapshot) == null) {
      lanes.loop(0).execute(this::update);
    }
  }

  private void update() {
    RegistrySnapshot snapshot = newest.getAndSet(null);
    if (snapshot == null) {
      return;
    }
    Peers peers = lanes.peers();
    long now = lanes.nanoTime();
    BusInfo self = snapshot.bus(peers.self());
    if (self != null) {
      peers.ownNumber(self.number());
    }
    Set<Peer> members = new HashSet<>();
    for (BusInfo bus : snapshot.buses()) {
      Peer peer = bus.state() == BusState.DOWN ? null : known(bus);
      if (peer != null) {
        lastSeen.put(peer, now);
        services.draining(peer, bus.state() == BusState.DRAINING);
        if (bus.state() != BusState.JOINING) {
          members.add(peer);
        }
      }
    }
    exchange.onMembers(members, self != null && self.state() == BusState.UP);
    for (Peer peer : peers.all()) {
      if (!members.contains(peer)) {
        // A peer that the registry does not list and that cannot be reached is not waited for.
        peer.giveUp("it has left the cluster");
      }
    }
  }

  private @Nullable Peer known(BusInfo bus) {
    Endpoint links = bus.addresses().peers();
    Peer peer = links == null ? null : lanes.peers().of(bus.id());
    if (links == null || peer == null) {
      return null;
    }
    peer.address(InetSocketAddress.createUnresolved(links.host(), links.port()));
    lanes.peers().number(peer, bus.number());
    return peer;
  }

  void onTick(long now) {
    if (now - checkedAt < CHECK_NANOS) {
      return;
    }
    checkedAt = now;
    for (Peer peer : lanes.peers().all()) {
      Long seen = lastSeen.putIfAbsent(peer, now);
      if (peer.upLanes() > 0) {
        lastSeen.put(peer, now);
      } else if (seen != null && now - seen > MEMORY_NANOS && !exchange.isMember(peer)) {
        LOG.info("Bus {} is no longer looked for", peer.id());
        lastSeen.remove(peer);
        lanes.peers().remove(peer);
        exchange.onForgotten(peer);
        services.forget(peer);
        for (LaneLoop loop : lanes.loops()) {
          loop.execute(() -> peer.lane(loop.number()).close());
        }
      }
    }
  }
}
