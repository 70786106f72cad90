package io.eventbus.server.federation.tree;

import java.util.ArrayList;
import java.util.List;

/**
 * Splits the buses that a frame has to reach into branches: each has a child that the frame is sent
 * to, and buses that the child passes it on to. The same inputs give the same branches. Stateless.
 */
final class Tree {
  /** Part of a tree. */
  record Branch<B>(B child, List<B> behind) {}

  private Tree() {}

  /**
   * Splits the buses.
   *
   * @param fanout maximum number of children, from 1
   */
  static <B> List<Branch<B>> split(List<B> buses, int fanout, int rotation) {
    int n = buses.size();
    // Reduced, so that the sums below stay in range.
    int first = n == 0 ? 0 : Math.floorMod(rotation, n);
    int children = Math.min(fanout, n);
    List<Branch<B>> branches = new ArrayList<>(children);
    for (int i = 0; i < children; i++) {
      List<B> behind = new ArrayList<>();
      for (int j = i + children; j < n; j += children) {
        behind.add(buses.get((first + j) % n));
      }
      branches.add(new Branch<>(buses.get((first + i) % n), List.copyOf(behind)));
    }
    return branches;
  }
}
