package io.eventbus.server.measure;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.samples.FakeLoops;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LoopWatchTest {
  private final FakeLoops loops = new FakeLoops(2);
  private final List<String> ended = new ArrayList<>();
  private final LoopWatch watch = new LoopWatch(loops, ended::add);

  private void check(int times) {
    for (int i = 0; i < times; i++) {
      watch.check();
    }
  }

  @Test
  void loopsThatAnswerAreWell() {
    for (int i = 0; i < 50; i++) {
      check(1);
      loops.runAll();
      assertThat(watch.problems()).isEmpty();
    }
  }

  @Test
  void aLoopThatHangsIsToldUntilItGoesOn() {
    check(1);
    assertThat(loops.runOne(0)).isTrue();
    for (int i = 0; i < LoopWatch.MAX_CHECKS; i++) {
      check(1);
      assertThat(watch.problems()).isEmpty();
      loops.runOne(0);
    }
    check(1);
    assertThat(watch.problems()).singleElement().asString().startsWith("event loop 1 has not");
    assertThat(loops.waiting(1)).as("it is asked once").isEqualTo(1);
    loops.runAll();
    check(1);
    assertThat(watch.problems()).isEmpty();
    assertThat(ended).isEmpty();
  }

  @Test
  void aLoopThatHasEndedIsTold() {
    loops.end();
    check(1);
    assertThat(ended).containsExactly("event loop 0 has ended", "event loop 1 has ended");
  }
}
