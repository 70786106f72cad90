package io.eventbus.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.cli.client.FakeEvent;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DemoLogTest {
  private final DemoLog told = log(1, 2, 3);

  private static DemoLog log(long... positions) {
    DemoLog log = new DemoLog(positions.length);
    for (int line = 0; line < positions.length; line++) {
      log.add(event(Integer.toString(line), positions[line]));
    }
    return log;
  }

  private static FakeEvent event(String line, long position) {
    return FakeEvent.of("flights.JFK.landed", "k", Map.of(DemoTally.LINE_HEADER, line), "{}")
        .at(position);
  }

  @Test
  void sameEventsAtTheSamePositionsAreNoDifference() {
    assertThat(log(1, 2, 3).differences(told)).isZero();
  }

  @Test
  void aLostEventIsADifference() {
    DemoLog log = new DemoLog(3);
    log.add(event("0", 1));
    log.add(event("2", 3));
    assertThat(log.differences(told)).isOne();
    assertThat(told.differences(log)).isOne();
  }

  @Test
  void aDoubledEventIsADifference() {
    DemoLog log = log(1, 2, 3);
    log.add(event("1", 4));
    assertThat(log.differences(told)).isOne();
  }

  @Test
  void exchangedEventsAreDifferences() {
    assertThat(log(2, 1, 3).differences(told)).isEqualTo(2);
  }

  @Test
  void eventsOfOthersAreIgnored() {
    DemoLog log = log(1, 2, 3);
    log.add(event("3", 4));
    log.add(event("-1", 5));
    log.add(event("x", 6));
    assertThat(log.differences(told)).isZero();
  }

  @Test
  void positionsThatNobodyWasToldAreThoseOfTheFirstLog() {
    DemoLog partly = log(1, 0, 3);
    assertThat(partly.complete(log(7, 2, 3))).isOne();
    assertThat(partly.differences(told)).isZero();
    assertThat(partly.complete(told)).isZero();
  }
}
