package io.eventbus.client.internal.inbound;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Cost of a set of ranges, and which of them it forgets; its content is in the properties. */
class RangeListTest {
  private static final int ATTEMPTS = 20;
  private static final int ROUNDS = 10_000;

  private final RangeList ranges = new RangeList();

  @Test
  void ofTooManyRangesTheLowestIsForgotten() {
    for (int i = 1; i <= 65; i++) {
      ranges.add(10L * i, 10L * i);
    }
    List<Long> missing = new ArrayList<>();
    ranges.missing(10, 20, (from, to) -> missing.add(to));
    assertThat(missing).containsExactly(19L);
    assertThat(ranges.firstMissing(650)).isEqualTo(651);
  }

  /** A member of a group gets some of the events: each delivery begins a range of its own. */
  @Test
  void nothingIsAllocatedForRangesThatAreNoNeighbours() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long sequence = 1;
    long min = Long.MAX_VALUE;
    // The compiler allocates while it warms up: a measurement without any has to come.
    for (int attempt = 0; attempt < ATTEMPTS && min > 0; attempt++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < ROUNDS; i++) {
        sequence += 3;
        ranges.add(sequence, sequence);
      }
      min = Math.min(min, threads.getCurrentThreadAllocatedBytes() - before);
    }
    assertThat(min).isZero();
  }
}
