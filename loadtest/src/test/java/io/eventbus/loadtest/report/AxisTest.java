package io.eventbus.loadtest.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

class AxisTest {
  private static List<String> labels(Axis axis) {
    return axis.marks().stream().map(Axis.Mark::label).toList();
  }

  @Test
  void marksAreAtRoundValues() {
    assertThat(labels(Axis.linear(5).over(0, 9.3))).containsExactly("0", "2", "4", "6", "8", "10");
    assertThat(labels(Axis.linear(5).over(0, 1)))
        .containsExactly("0.0", "0.2", "0.4", "0.6", "0.8", "1.0");
    assertThat(labels(Axis.linear(5).over(0, 123_456)))
        .containsExactly("0", "50,000", "100,000", "150,000");
    assertThat(labels(Axis.linear(5).over(0, 4_100_000)))
        .containsExactly("0", "1.00 M", "2.00 M", "3.00 M", "4.00 M", "5.00 M");
  }

  @Test
  void whatIsCountedHasWholeMarks() {
    assertThat(labels(Axis.whole(10).over(1, 3))).containsExactly("0", "1", "2", "3");
    assertThat(labels(Axis.whole(10).over(1, 1))).containsExactly("0", "1");
    assertThat(labels(Axis.whole(10).over(1, 40))).hasSize(9).endsWith("35", "40");
  }

  @Test
  void everyValueLiesOnItsAxis() {
    for (double most : new double[] {0, 1e-12, 0.3, 1, 7, 99.99, 1e5, 3.3e9}) {
      for (Axis.Scale scale : List.of(Axis.linear(5), Axis.linear(10), Axis.decades())) {
        Axis axis = scale.over(0, most);
        assertThat(axis.place().applyAsDouble(0)).isBetween(0.0, 1.0);
        assertThat(axis.place().applyAsDouble(most)).isBetween(0.0, 1.0);
        assertThat(axis.marks()).hasSizeBetween(2, 12);
      }
    }
  }

  @Test
  void everyNineTakesTheSameRoom() {
    Axis axis = Axis.nines().over(0, 100);
    assertThat(axis.place().applyAsDouble(90)).isCloseTo(0.2, within(1e-9));
    assertThat(axis.place().applyAsDouble(99.9)).isCloseTo(0.6, within(1e-9));
    assertThat(axis.place().applyAsDouble(100)).isEqualTo(1);
    assertThat(labels(axis)).startsWith("0", "50", "90", "99", "99.9");
  }
}
