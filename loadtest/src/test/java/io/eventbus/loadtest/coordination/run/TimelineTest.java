package io.eventbus.loadtest.coordination.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TimelineTest {
  private static final long START = -5_000;

  private final Timeline timeline = new Timeline(START, Duration.ofSeconds(1));

  private void successAt(long... millis) {
    for (long milli : millis) {
      timeline.success(START + TimeUnit.MILLISECONDS.toNanos(milli));
    }
  }

  @Test
  void whatIsOutsideThePhaseDoesNotCount() {
    timeline.success(START - 1);
    successAt(0, 999, 1_000, 5_000);
    assertThat(timeline.total()).isEqualTo(2);
  }

  @Test
  void aGapMayBeInTheMiddle() {
    successAt(100, 200, 700, 900);
    assertThat(timeline.longestGapMillis()).isEqualTo(500);
  }

  @Test
  void aGapMayBeAtTheBeginningOrAtTheEnd() {
    successAt(600, 700);
    assertThat(timeline.longestGapMillis()).isEqualTo(600);
    Timeline other = new Timeline(0, Duration.ofSeconds(1));
    other.success(TimeUnit.MILLISECONDS.toNanos(100));
    assertThat(other.longestGapMillis()).isEqualTo(900);
  }

  @Test
  void withoutASuccessTheWholePhaseIsAGap() {
    assertThat(timeline.longestGapMillis()).isEqualTo(1_000);
  }

  @Test
  void intervalsAddUp() {
    successAt(0, 399, 400, 401, 999);
    assertThat(timeline.each(400)).isEqualTo(List.of(2L, 2L, 1L));
  }
}
