package io.eventbus.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;

class NumberCheckProperties {
  private static final long SENT = 200_000;

  /** The bound of the memory makes no difference if no number is further behind. */
  @Property
  void agreesWithAModelThatRemembersEverything(
      @ForAll List<@LongRange(min = 1, max = SENT) Long> numbers) {
    NumberCheck check = new NumberCheck();
    Set<Long> seen = new HashSet<>();
    long highest = 0;
    long doubled = 0;
    long reordered = 0;
    for (long number : numbers) {
      check.accept(number);
      boolean tooLate = highest - number >= NumberCheck.REMEMBERED;
      if (tooLate || seen.contains(number)) {
        doubled++;
      } else {
        reordered += number < highest ? 1 : 0;
        seen.add(number);
      }
      highest = Math.max(highest, number);
    }
    assertThat(check.received()).isEqualTo(numbers.size());
    assertThat(check.doubled()).isEqualTo(doubled);
    assertThat(check.reordered()).isEqualTo(reordered);
    assertThat(check.missing(SENT)).isEqualTo(SENT - seen.size());
  }
}
