package io.eventbus.registry.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class SortedTreeProperties {

  /** Puts positive numbers and removes negative ones. */
  @Property
  void behavesLikeATreeMapAndKeepsOldVersions(
      @ForAll @Size(max = 300) List<@IntRange(min = -40, max = 40) Integer> steps) {
    SortedTree<Integer, String> tree = SortedTree.empty();
    TreeMap<Integer, String> model = new TreeMap<>();
    List<SortedTree<Integer, String>> versions = new ArrayList<>();
    List<TreeMap<Integer, String>> modelVersions = new ArrayList<>();
    for (int i = 0; i < steps.size(); i++) {
      int step = steps.get(i);
      if (step >= 0) {
        tree = tree.with(step, "v" + i);
        model.put(step, "v" + i);
      } else {
        tree = tree.without(-step);
        model.remove(-step);
      }
      assertThat(tree.size()).isEqualTo(model.size());
      assertThat(tree.get(Math.abs(step))).isEqualTo(model.get(Math.abs(step)));
      assertThat(tree.isBalanced()).isTrue();
      versions.add(tree);
      modelVersions.add(new TreeMap<>(model));
    }
    for (int i = 0; i < versions.size(); i++) {
      assertThat(versions.get(i).values()).containsExactlyElementsOf(modelVersions.get(i).values());
    }
  }

  @Property
  void equalityIsAboutEntriesNotAboutHistory(
      @ForAll @Size(max = 60) List<@IntRange(min = 0, max = 30) Integer> keys,
      @ForAll @IntRange(min = 0, max = 30) int extra) {
    SortedTree<Integer, Integer> forwards = SortedTree.empty();
    SortedTree<Integer, Integer> backwards = SortedTree.empty();
    for (int i = 0; i < keys.size(); i++) {
      forwards = forwards.with(keys.get(i), keys.get(i));
      int other = keys.get(keys.size() - 1 - i);
      backwards = backwards.with(other, other);
    }
    assertThat(forwards).isEqualTo(backwards).hasSameHashCodeAs(backwards);
    SortedTree<Integer, Integer> different = forwards.with(extra, -1);
    assertThat(different).isNotEqualTo(backwards);
    assertThat(backwards).isNotEqualTo(different);
  }
}
