package io.eventbus.server.balance.decision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Load and overload. */
class LoadTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private static long seconds(double s) {
    return (long) (s * 1e9);
  }

  @Test
  void theFullestPartCounts() {
    assertThat(new LoadFigures(0.1, 0.2, 0.3, 0.4, 0.5).highest()).isEqualTo(0.5);
    assertThat(new LoadFigures(0.6, 0.2, 0.3, 0.4, 0.5).highest()).isEqualTo(0.6);
  }

  @Test
  void aBurstHardlyShows() {
    LoadMeasure measure = new LoadMeasure(Duration.ofSeconds(3));
    assertThat(measure.load()).isZero();
    assertThat(measure.add(0.5, seconds(0))).isEqualTo(0.5);
    assertThat(measure.add(1.0, seconds(0.1))).isCloseTo(0.516, within(0.001));
    assertThat(measure.add(1.0, seconds(3.1))).isGreaterThan(0.8);
  }

  @Test
  void theIntervalOfTheSamplesDoesNotMatter() {
    LoadMeasure often = new LoadMeasure(SECOND);
    LoadMeasure seldom = new LoadMeasure(SECOND);
    often.add(0, 0);
    seldom.add(0, 0);
    for (int i = 1; i <= 20; i++) {
      often.add(1, seconds(i / 10.0));
    }
    assertThat(seldom.add(1, seconds(2))).isCloseTo(often.load(), within(1e-9));
  }

  @Test
  void aCreditFadesAsTheMeasureFollows() {
    LoadMeasure measure = new LoadMeasure(SECOND);
    LoadCredit departed = new LoadCredit(SECOND);
    measure.add(0.9, 0);
    // 0.4 of it goes away now.
    departed.add(0.4, 0);
    for (double s = 0.1; s < 5; s += 0.1) {
      measure.add(0.5, seconds(s));
      assertThat(measure.load() - departed.value(seconds(s))).isCloseTo(0.5, within(1e-9));
    }
    departed.add(-1, seconds(5));
    assertThat(departed.value(seconds(5))).isZero();
  }

  @Test
  void overloadHasToLastAndEndsLower() {
    OverloadDetector detector = new OverloadDetector(0.85, 0.7, Duration.ofSeconds(2));
    assertThat(detector.update(0.9, seconds(0))).isFalse();
    assertThat(detector.update(0.9, seconds(1.9))).isFalse();
    assertThat(detector.update(0.8, seconds(1.95))).as("a pause starts it anew").isFalse();
    assertThat(detector.update(0.9, seconds(2))).isFalse();
    assertThat(detector.update(0.9, seconds(4))).isTrue();
    assertThat(detector.update(0.8, seconds(5))).as("between the marks").isTrue();
    assertThat(detector.update(0.69, seconds(6))).isFalse();
    assertThat(detector.isOverloaded()).isFalse();
    assertThat(detector.update(0.8, seconds(7))).isFalse();
  }

  @Test
  void theMarksHaveAnOrder() {
    assertThatThrownBy(() -> new OverloadDetector(0.7, 0.7, SECOND))
        .hasMessage("low: 0.7 (expected: less than 0.7)");
  }

  @Test
  void movesHaveAPace() {
    MovePace pace = new MovePace(10, 5);
    assertThat(pace.available(0)).isEqualTo(5);
    pace.take(5);
    assertThat(pace.available(seconds(0.05))).isZero();
    assertThat(pace.available(seconds(0.3))).isEqualTo(3);
    assertThat(pace.available(seconds(100))).isEqualTo(5);
  }

  @Test
  void hurryRaisesTheRate() {
    MovePace pace = new MovePace(10, 5);
    assertThat(pace.available(0, 4)).isEqualTo(20);
    pace.take(20);
    assertThat(pace.available(seconds(0.1), 4)).isEqualTo(4);
    assertThat(pace.available(seconds(10), 4)).isEqualTo(20);
    assertThat(pace.available(seconds(10))).as("the hurry is over").isEqualTo(5);
  }

  @Test
  void theRecentLoadIsTheLesserOfTwoSamples() {
    LoadMeasure measure = new LoadMeasure(SECOND);
    assertThat(measure.recent()).isZero();
    measure.add(0.5, 0);
    assertThat(measure.recent()).isEqualTo(0.5);
    measure.add(1, seconds(0.5));
    assertThat(measure.recent()).as("a burst of a moment").isEqualTo(0.5);
    measure.add(0.9, seconds(1));
    assertThat(measure.recent()).isEqualTo(0.9);
    measure.add(0.2, seconds(1.5));
    assertThat(measure.recent()).as("without the past").isEqualTo(0.2);
  }

  @Test
  void aClientIsLeftAloneForAWhile() {
    MoveHistory history = new MoveHistory(Duration.ofSeconds(60), 4);
    assertThat(history.isMovable(1, 0, 0, false, 0)).isTrue();
    history.asked(1, 0);
    assertThat(history.isMovable(1, 0, 0, false, seconds(59))).isFalse();
    assertThat(history.isMovable(1, 0, 0, true, seconds(59))).as("the bus ends").isTrue();
    assertThat(history.isMovable(1, 0, 0, false, seconds(60))).isTrue();
    assertThat(history.isMovable(2, 1, seconds(0), false, seconds(30)))
        .as("has just come")
        .isFalse();
    assertThat(history.isMovable(2, 4, seconds(0), true, seconds(30))).as("hops").isFalse();
    assertThat(MoveHistory.hops(4, 0, seconds(59))).isEqualTo(4);
    assertThat(MoveHistory.hops(4, 0, seconds(60))).isZero();
    assertThat(history.left(1)).isEqualTo(3);
    assertThat(history.left(9)).isZero();
  }

  @Test
  void theHistoryIsBounded() {
    MoveHistory history = new MoveHistory(Duration.ofDays(1), 4);
    for (long i = 0; i <= MoveHistory.MAX_CLIENTS; i++) {
      history.asked(i, i);
    }
    assertThat(history.isMovable(0, 0, 0, false, MoveHistory.MAX_CLIENTS)).as("forgotten").isTrue();
    assertThat(history.isMovable(1, 0, 0, false, MoveHistory.MAX_CLIENTS)).isFalse();
  }
}
