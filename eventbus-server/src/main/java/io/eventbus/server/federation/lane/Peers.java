package io.eventbus.server.federation.lane;

import io.eventbus.link.LinkPeer;
import io.eventbus.registry.BusId;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Known peers of this bus. Any thread. */
public final class Peers {
  private static final int MAX_PEERS = 4096;

  private final BusId self;
  private final Lanes lanes;
  private final Runnable renumbered;
  private final Map<BusId, Peer> byId = new ConcurrentHashMap<>();
  // Also under the numbers of earlier lives, which frames on their way still name.
  private final Map<Integer, Peer> byNumber = new ConcurrentHashMap<>();
  private volatile int ownNumber;

  Peers(BusId self, Lanes lanes, Runnable renumbered) {
    this.self = self;
    this.lanes = lanes;
    this.renumbered = renumbered;
  }

  public BusId self() {
    return self;
  }

  public int ownNumber() {
    return ownNumber;
  }

  public void ownNumber(int now) {
    ownNumber = now;
  }

  public Collection<Peer> all() {
    return byId.values();
  }

  public boolean isEmpty() {
    return byId.isEmpty();
  }

  public @Nullable Peer find(BusId id) {
    return byId.get(id);
  }

  public @Nullable Peer numbered(int number) {
    return byNumber.get(number);
  }

  /** Sets the number of a peer, from the registry. */
  public void number(Peer peer, int number) {
    byNumber.put(number, peer);
    renumber(peer, number);
  }

  /** Sets the number that a peer claims, perhaps before the registry lists it. */
  public void claim(Peer peer, int number) {
    if (number > 0 && byNumber.putIfAbsent(number, peer) == null) {
      renumber(peer, number);
    }
  }

  private void renumber(Peer peer, int number) {
    // Later lives have greater numbers.
    if (number > peer.registryNumber()) {
      peer.registryNumber(number);
      // Paths through peers name it by its number.
      renumbered.run();
    }
  }

  /** Returns the peer at the other end of a link; null for this bus, and if there are too many. */
  public @Nullable Peer of(LinkPeer linkPeer) {
    return linkPeer.bus().isEmpty() ? null : of(new BusId(linkPeer.bus()));
  }

  public @Nullable Peer of(BusId id) {
    if (id.equals(self) || (byId.size() >= MAX_PEERS && !byId.containsKey(id))) {
      return null;
    }
    return byId.computeIfAbsent(id, i -> new Peer(i, lanes));
  }

  public void remove(Peer peer) {
    byId.remove(peer.id(), peer);
    byNumber.values().removeIf(known -> known == peer);
  }
}
