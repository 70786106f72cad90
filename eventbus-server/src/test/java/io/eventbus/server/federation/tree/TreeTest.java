package io.eventbus.server.federation.tree;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TreeTest {
  /** Follows a frame along the buses; returns the hops of each bus. */
  private static Map<Integer, Integer> spread(List<Integer> buses, int fanout, int turn) {
    Map<Integer, Integer> hops = new HashMap<>();
    spread(buses, fanout, turn, 1, hops);
    return hops;
  }

  private static void spread(
      List<Integer> buses, int fanout, int turn, int depth, Map<Integer, Integer> hops) {
    List<Tree.Branch<Integer>> branches = Tree.split(buses, fanout, turn);
    assertThat(branches).hasSize(Math.min(fanout, buses.size()));
    for (Tree.Branch<Integer> branch : branches) {
      assertThat(hops.put(branch.child(), depth)).as("reached before").isNull();
      spread(branch.behind(), fanout, turn + 7, depth + 1, hops);
    }
  }

  @Test
  void everyBusIsReachedOnce() {
    Random random = new Random(5);
    for (int run = 0; run < 2_000; run++) {
      List<Integer> buses = IntStream.range(0, 1 + random.nextInt(40)).boxed().toList();
      Map<Integer, Integer> hops = spread(buses, 1 + random.nextInt(9), random.nextInt());
      assertThat(hops.keySet()).containsExactlyInAnyOrderElementsOf(buses);
    }
  }

  @Test
  void everyBusIsReachedOnceWithTheLargestRotation() {
    List<Integer> buses = IntStream.range(0, 10).boxed().toList();
    for (int turn : new int[] {Integer.MAX_VALUE, Integer.MAX_VALUE - 5, Integer.MIN_VALUE}) {
      List<Integer> reached = new ArrayList<>();
      for (Tree.Branch<Integer> branch : Tree.split(buses, 3, turn)) {
        reached.add(branch.child());
        reached.addAll(branch.behind());
      }
      assertThat(reached).containsExactlyInAnyOrderElementsOf(buses);
    }
  }

  @Test
  void nobodyToReach() {
    assertThat(Tree.split(List.of(), 8, 3)).isEmpty();
  }

  @Test
  void theShapeIsThatOfTheFanout() {
    List<Integer> buses = IntStream.range(0, 7).boxed().toList();
    assertThat(spread(buses, 7, 3).values()).containsOnly(1);
    assertThat(Collections.max(spread(buses, 1, 3).values())).isEqualTo(7);
    // 2 with 2 and 1 behind: 7 = 2 + 4 + 1.
    assertThat(Collections.max(spread(buses, 2, 3).values())).isEqualTo(3);
  }

  @Test
  void theRotationSelectsTheRelays() {
    List<Integer> buses = List.of(1, 2, 3);
    assertThat(Tree.split(buses, 1, 0)).containsExactly(new Tree.Branch<>(1, List.of(2, 3)));
    assertThat(Tree.split(buses, 1, 1)).containsExactly(new Tree.Branch<>(2, List.of(3, 1)));
    assertThat(Tree.split(buses, 1, -1)).containsExactly(new Tree.Branch<>(3, List.of(1, 2)));
  }
}
