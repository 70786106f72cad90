package io.eventbus.server.federation.tree;

import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.RouteTarget;
import io.eventbus.server.federation.lane.LaneLoop;
import io.eventbus.server.federation.lane.LanePath;
import io.eventbus.server.federation.lane.Peer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Trees by which frames reach one set of buses, and the paths that start them. They are the same
 * for all topics that these buses want under the same policies, and are created on first use.
 * Confined to one loop.
 */
final class BusTrees {
  /** Object, its place in the {@link TreeTable}, and its arrays. */
  private static final int FIXED_BYTES = 800;

  /** Bus in the maps and lists. */
  private static final int BUS_BYTES = 130;

  /** Branch of a tree, its lists, and a reference for each bus behind its child. */
  private static final int BRANCH_BYTES = 64;

  /** Path with its head, without the numbers of the buses behind its child. */
  private static final int PATH_BYTES = 152;

  /** Map of {@link #paths}, and a bus in it. */
  private static final int MAP_BYTES = 128;

  private static final int ENTRY_BYTES = 44;

  private static final int REFERENCE_BYTES = 4;

  private final LaneLoop loop;
  private final Map<Peer, Overflow> policies;
  private final List<Peer> ungrouped;
  // Buses that relays can be told to pass frames on to.
  private final Set<Peer> numbered;
  private final int rotations;
  // For each rotation of the tree and each lane, created on first use.
  private final RouteTarget[] @Nullable [] known;
  private final @Nullable Map<Peer, LanePath>[] paths;
  private final @Nullable List<Tree.Branch<Peer>>[] branches;
  private long bytes;

  /** Key in the {@link TreeTable}, and the number of topics that use the trees. */
  final TreeTable.Key key;

  int shares;

  BusTrees(LaneLoop loop, TreeTable.Key key) {
    this.loop = loop;
    this.key = key;
    this.policies = key.policies();
    // Same order on all buses.
    this.ungrouped = policies.keySet().stream().sorted(Comparator.comparing(Peer::id)).toList();
    this.numbered =
        ungrouped.stream()
            .filter(peer -> peer.registryNumber() > 0)
            .collect(Collectors.toCollection(LinkedHashSet::new));
    this.rotations = isFlat() ? 1 : ungrouped.size();
    int slots = rotations * loop.count();
    this.known = new RouteTarget[slots][];
    this.paths = newPaths(slots);
    this.branches = newBranches(rotations);
    this.bytes =
        FIXED_BYTES
            + (long) BUS_BYTES * ungrouped.size()
            + (long) REFERENCE_BYTES * (2 * slots + rotations);
  }

  // Java cannot create an array of a generic type otherwise.
  @SuppressWarnings({"unchecked", "rawtypes"})
  private static @Nullable List<Tree.Branch<Peer>>[] newBranches(int size) {
    return new List[size];
  }

  // As above.
  @SuppressWarnings({"unchecked", "rawtypes"})
  private static @Nullable Map<Peer, LanePath>[] newPaths(int size) {
    return new Map[size];
  }

  /** Returns the estimated heap bytes. */
  long bytes() {
    return bytes;
  }

  /** Returns the buses, in an order that is the same everywhere. */
  List<Peer> buses() {
    return ungrouped;
  }

  boolean contains(Peer bus) {
    return policies.containsKey(bus);
  }

  /** Returns whether each bus is reached by its own lane. */
  boolean isFlat() {
    return ungrouped.size() <= loop.config().fanout();
  }

  /** Returns whether frames take the same paths as in other trees, whatever the policies. */
  boolean hasPathsOf(BusTrees other) {
    return ungrouped.equals(other.ungrouped) && numbered.equals(other.numbered);
  }

  /** Returns the index of the first bus in the tree of a producer and a topic. */
  int rotation(long producer, int topicHash) {
    return rotations == 1
        ? 0
        : (int) Math.floorMod(LaneLoop.mix(producer + topicHash) >>> 1, (long) rotations);
  }

  /** Returns the paths that start a tree, for frames without a group. */
  RouteTarget[] targets(int rotation, int lane) {
    int at = rotation * loop.count() + lane;
    RouteTarget[] targets = known[at];
    if (targets == null) {
      List<Tree.Branch<Peer>> tree = tree(rotation);
      targets = new RouteTarget[tree.size()];
      for (int i = 0; i < targets.length; i++) {
        targets[i] = target(tree.get(i), lane, Map.of());
      }
      known[at] = targets;
      bytes += (long) PATH_BYTES * targets.length + (long) REFERENCE_BYTES * ungrouped.size();
    }
    return targets;
  }

  List<Tree.Branch<Peer>> tree(int rotation) {
    List<Tree.Branch<Peer>> tree = branches[rotation];
    if (tree == null) {
      if (isFlat()) {
        tree = Tree.split(ungrouped, loop.config().fanout(), rotation);
      } else {
        tree = new ArrayList<>(Tree.split(List.copyOf(numbered), loop.config().fanout(), rotation));
        for (Peer peer : ungrouped) {
          if (!numbered.contains(peer)) {
            tree.add(new Tree.Branch<>(peer, List.of()));
          }
        }
      }
      branches[rotation] = tree;
      bytes += (long) BRANCH_BYTES * tree.size() + (long) REFERENCE_BYTES * ungrouped.size();
    }
    return tree;
  }

  /** Creates a path for a branch, with the groups at each of its buses that it is for. */
  RouteTarget target(Tree.Branch<Peer> branch, int lane, Map<Peer, List<String>> picked) {
    Overflow strictest = policies.getOrDefault(branch.child(), Overflow.BLOCK);
    List<LanePath.Pick> picks = new ArrayList<>();
    for (Peer peer : branch.behind()) {
      strictest = RouteTarget.stricter(strictest, policies.getOrDefault(peer, Overflow.BLOCK));
      picked
          .getOrDefault(peer, List.of())
          .forEach(group -> picks.add(new LanePath.Pick(peer, group)));
    }
    List<String> groupsThere = picked.getOrDefault(branch.child(), List.of());
    boolean hasPicks = !picks.isEmpty() || !groupsThere.isEmpty();
    LanePath path =
        LanePath.of(
            branch.child().lane(lane),
            key.account(),
            1,
            true,
            groupsThere,
            branch.behind(),
            picks,
            strictest,
            null);
    // A group's members are at their own bus: the policy there decides, the lane must not drop.
    return new RouteTarget(path, hasPicks ? Overflow.BLOCK : strictest);
  }

  /** Returns the path by which each bus is reached in a tree. */
  Map<Peer, LanePath> paths(int rotation, int lane) {
    int at = rotation * loop.count() + lane;
    Map<Peer, LanePath> found = paths[at];
    if (found == null) {
      found = new HashMap<>();
      for (RouteTarget target : targets(rotation, lane)) {
        LanePath path = (LanePath) target.subscriber();
        found.put(path.child(), path);
        for (Peer behind : path.behind()) {
          found.put(behind, path);
        }
      }
      paths[at] = found;
      bytes += MAP_BYTES + (long) ENTRY_BYTES * found.size();
    }
    return found;
  }
}
