package io.eventbus.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ConfirmationGapTest {
  private final ConfirmationGap gap = new ConfirmationGap();

  @Test
  void longestTimeSinceTheBeginningCounts() {
    gap.confirmed(100);
    gap.confirmed(900);
    gap.begin();
    gap.confirmed(950);
    gap.confirmed(1_250);
    gap.confirmed(1_300);
    assertThat(gap.longest()).isEqualTo(Duration.ofNanos(300));
  }

  @Test
  void timeFromTheLastConfirmationBeforeCounts() {
    gap.confirmed(100);
    gap.begin();
    assertThat(gap.longest()).isZero();
    gap.confirmed(700);
    assertThat(gap.longest()).isEqualTo(Duration.ofNanos(600));
  }
}
