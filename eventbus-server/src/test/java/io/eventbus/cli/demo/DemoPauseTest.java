package io.eventbus.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class DemoPauseTest {
  private final List<Long> told = new ArrayList<>();
  private final DemoPause pause = new DemoPause(told::add);

  private static long at(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  @Test
  void theLongestWayAroundAChangeIsThePause() {
    pause.event(9_000, at(1_000));
    pause.event(3_000, at(2_600));
    pause.changed(at(2_900));
    pause.event(5_000, at(3_000));
    pause.event(2_000, at(3_100));
    assertThat(told).as("it may not be over").isEmpty();
    pause.event(8_000, at(3_500));
    assertThat(told).as("not what was long before or after").containsExactly(5_000L);
  }

  @Test
  void commandsFromBeforeTheNoticeCount() {
    pause.event(7_000, at(2_600));
    pause.changed(at(2_900));
    pause.event(1_000, at(3_000));
    pause.finish();
    assertThat(told).containsExactly(7_000L);
    pause.finish();
    assertThat(told).as("told once").hasSize(1);
  }

  @Test
  void aSubscriberWithoutEventsHasSeenNoPause() {
    pause.event(7_000, at(1_000));
    pause.changed(at(9_000));
    pause.changed(at(9_100));
    pause.finish();
    assertThat(told).isEmpty();
  }

  @Test
  void withoutAChangeThereIsNoPause() {
    pause.event(7_000, at(1_000));
    pause.finish();
    assertThat(told).isEmpty();
  }
}
