package io.eventbus.server.federation.tree;

import io.eventbus.schema.Overflow;
import io.eventbus.server.federation.lane.LaneLoop;
import io.eventbus.server.federation.lane.Peer;
import io.eventbus.server.subscription.RemoteBus;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Trees of one loop, shared by all topics with the same key while any of them uses it. Confined to
 * the loop.
 */
final class TreeTable {
  /**
   * Key of trees, for one account, which paths name. The numbers of the buses belong to it, because
   * paths name buses by them; each number is assigned once.
   */
  record Key(String account, Map<Peer, Overflow> policies, Set<Integer> numbers) {
    static Key of(String account, Map<RemoteBus, Overflow> buses) {
      Map<Peer, Overflow> policies = new LinkedHashMap<>();
      Set<Integer> numbers = new HashSet<>();
      buses.forEach(
          (bus, overflow) -> {
            Peer peer = (Peer) bus;
            policies.put(peer, overflow);
            numbers.add(peer.registryNumber());
          });
      return new Key(account, policies, numbers);
    }
  }

  private final LaneLoop loop;
  private final Map<Key, BusTrees> trees = new HashMap<>();

  TreeTable(LaneLoop loop) {
    this.loop = loop;
  }

  /** Acquires the trees to some buses. */
  BusTrees acquire(String account, Map<RemoteBus, Overflow> buses) {
    BusTrees found = trees.computeIfAbsent(Key.of(account, buses), key -> new BusTrees(loop, key));
    found.shares++;
    return found;
  }

  /** Releases the trees. */
  void release(BusTrees shared) {
    if (--shared.shares == 0) {
      trees.remove(shared.key);
    }
  }

  int size() {
    return trees.size();
  }
}
