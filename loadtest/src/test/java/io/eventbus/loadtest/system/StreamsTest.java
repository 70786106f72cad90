package io.eventbus.loadtest.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.Gap;
import io.eventbus.loadtest.system.Streams.Faults;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests that the counts of the system tests find each fault. */
class StreamsTest {
  private final Streams streams = new Streams();

  private void came(int... numbers) {
    for (int number : numbers) {
      streams.accept("a", number);
    }
  }

  private void told(int from, int to) {
    streams.accept(new Gap("a", 7, from, to, Gap.Reason.LOST));
  }

  private Faults of(int published) {
    return streams.compare(Map.of("a", published));
  }

  @Test
  void allOnceAndInOrderIsNoFault() {
    came(1, 2, 3);
    streams.accept("b", 1);
    assertThat(streams.compare(Map.of("a", 3, "b", 1))).isEqualTo(Faults.NONE);
    assertThat(streams.last("a")).isEqualTo(3);
  }

  @Test
  void whatDoesNotComeIsMissingToldOrNot() {
    came(1, 4);
    assertThat(of(5)).isEqualTo(new Faults(3, 0, 0, 3, 0));
    told(2, 3);
    assertThat(of(5)).isEqualTo(new Faults(3, 0, 0, 1, 0));
    assertThat(of(4)).isEqualTo(new Faults(2, 0, 0, 0, 0));
  }

  @Test
  void aTopicOfWhichNothingCameIsMissing() {
    assertThat(of(2)).isEqualTo(new Faults(2, 0, 0, 2, 0));
  }

  @Test
  void whatComesAgainOrLateIsCounted() {
    came(1, 2, 2, 4, 3);
    assertThat(of(4)).isEqualTo(new Faults(0, 1, 1, 0, 0));
  }

  @Test
  void whatIsToldAndComesOrIsToldTwiceIsCounted() {
    came(1, 2, 4);
    told(2, 3);
    assertThat(of(4)).isEqualTo(new Faults(1, 0, 0, 0, 1));
    told(3, 3);
    assertThat(of(4)).isEqualTo(new Faults(1, 0, 0, 0, 2));
  }
}
