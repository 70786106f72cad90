package io.eventbus.server.call;

import static io.eventbus.server.call.CallFixture.MILLIS;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MemberLatencyTest {
  private final MemberLatency latency = new MemberLatency();

  @Test
  void risesAtOnceAndDecaysOverASecond() {
    latency.answered(MILLIS, 0);
    latency.answered(80 * MILLIS, MILLIS);
    assertThat(latency.peak(0, MILLIS)).isEqualTo(80 * MILLIS);
    assertThat(latency.peak(0, 1_001 * MILLIS)).isBetween(29 * MILLIS, 30 * MILLIS);
    for (int i = 2; i <= 4_000; i++) {
      latency.answered(MILLIS, i * MILLIS);
    }
    assertThat(latency.peak(0, 4_000 * MILLIS)).isBetween(MILLIS, 3 * MILLIS);
    assertThat(latency.mean(0, 4_000 * MILLIS)).isBetween(MILLIS, 2 * MILLIS);
  }

  @Test
  void fastFailuresDoNotLookFast() {
    latency.answered(MILLIS / 10, 0);
    latency.failed(0);
    assertThat(latency.peak(0, 0)).isEqualTo(100 * MILLIS);
    latency.failed(0);
    assertThat(latency.peak(0, 0)).isEqualTo(400 * MILLIS);
    for (int i = 0; i < 10; i++) {
      latency.failed(0);
    }
    assertThat(latency.peak(0, 0)).isEqualTo(30_000 * MILLIS);
    assertThat(latency.mean(0, 0)).isEqualTo(MILLIS / 10);
  }

  @Test
  void aSilentMemberBecomesSlow() {
    latency.answered(MILLIS, 0);
    latency.began(true, 1_000 * MILLIS);
    latency.began(false, 1_400 * MILLIS);
    assertThat(latency.peak(2, 1_500 * MILLIS)).isEqualTo(500 * MILLIS);
    assertThat(latency.mean(2, 1_500 * MILLIS)).isEqualTo(500 * MILLIS);
    latency.answered(MILLIS, 1_500 * MILLIS);
    assertThat(latency.peak(1, 1_500 * MILLIS)).isLessThan(2 * MILLIS);
    assertThat(latency.peak(0, 9_000 * MILLIS)).isLessThan(MILLIS);
  }
}
