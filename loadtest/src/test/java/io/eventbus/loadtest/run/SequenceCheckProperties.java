package io.eventbus.loadtest.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class SequenceCheckProperties {
  /** The same question answered slowly, with everything remembered. */
  private static final class Model {
    final BitSet seen = new BitSet();
    long doubled;
    long reordered;
    int highest;

    void accept(int number) {
      if (seen.get(number)) {
        doubled++;
      } else if (number < highest) {
        reordered++;
      }
      seen.set(number);
      highest = Math.max(highest, number);
    }

    long missing() {
      return (long) highest - seen.cardinality();
    }
  }

  @Property
  void countsAsTheModelDoesWhateverArrives(
      @ForAll @Size(max = 200) List<@IntRange(min = 1, max = 60) Integer> numbers) {
    SequenceCheck check = new SequenceCheck(3);
    Model model = new Model();
    int other = 0;
    for (int number : numbers) {
      check.accept(1, number);
      check.accept(2, ++other);
      model.accept(number);
      assertThat(check.missing()).isEqualTo(model.missing());
      assertThat(check.doubled()).isEqualTo(model.doubled);
      assertThat(check.reordered()).isEqualTo(model.reordered);
      assertThat(check.highest(1)).isEqualTo(model.highest);
      assertThat(check.highest(2)).isEqualTo(other);
    }
    assertThat(check.highest(0)).isZero();
  }

  @Example
  void aWholeStreamIsWhole() {
    assertThat(verdict(1, 2, 3, 4, 5)).containsExactly(0L, 0L, 0L);
  }

  @Example
  void seesOneDropped() {
    assertThat(verdict(1, 2, 4, 5)).containsExactly(1L, 0L, 0L);
  }

  @Example
  void seesOneDoubled() {
    assertThat(verdict(1, 2, 2, 3)).containsExactly(0L, 1L, 0L);
  }

  @Example
  void seesTwoSwapped() {
    assertThat(verdict(1, 3, 2, 4)).containsExactly(0L, 0L, 1L);
  }

  @Example
  void aLateEventThatComesTwiceIsReorderedOnceAndDoubledOnce() {
    assertThat(verdict(1, 4, 3, 3, 2)).containsExactly(0L, 1L, 2L);
  }

  private static List<Long> verdict(long... numbers) {
    SequenceCheck check = new SequenceCheck(1);
    for (long number : numbers) {
      check.accept(0, number);
    }
    return List.of(check.missing(), check.doubled(), check.reordered());
  }
}
