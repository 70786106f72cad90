package io.eventbus.client.internal.inbound;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** The set of ranges against a plain set of numbers. */
class RangeListProperties {
  @Property
  void holdsWhatAPlainSetHolds(
      @ForAll @Size(max = 40) List<@IntRange(min = 1, max = 60) Integer> starts,
      @ForAll @IntRange(min = 1, max = 6) int length) {
    RangeList ranges = new RangeList();
    NavigableSet<Long> model = new TreeSet<>();
    for (int start : starts) {
      ranges.add(start, start + length - 1L);
      for (long n = start; n < start + length; n++) {
        model.add(n);
      }
      NavigableSet<Long> missing = new TreeSet<>();
      ranges.missing(
          1,
          70,
          (from, to) -> {
            assertThat(from).isLessThanOrEqualTo(to);
            for (long n = from; n <= to; n++) {
              missing.add(n);
            }
          });
      for (long n = 1; n <= 70; n++) {
        assertThat(missing.contains(n)).isEqualTo(!model.contains(n));
        long first = n;
        while (model.contains(first)) {
          first++;
        }
        assertThat(ranges.firstMissing(n)).isEqualTo(first);
      }
    }
  }
}
