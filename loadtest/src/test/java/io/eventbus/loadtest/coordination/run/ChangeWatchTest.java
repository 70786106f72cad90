package io.eventbus.loadtest.coordination.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.loadtest.run.LatencySummary;
import org.junit.jupiter.api.Test;

class ChangeWatchTest {
  @Test
  void whatWasSeenBeforeTheAnswerTookNoTime() {
    LatencySummary between =
        ChangeWatch.between(new long[] {1_000, 2_000}, new long[] {500, 12_000});
    assertThat(between.count()).isEqualTo(2);
    assertThat(between.p50()).isZero();
    assertThat(between.max()).isBetween(9.9, 10.1);
  }
}
