package io.eventbus.server.federation.lane;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class OneShotLatchTest {
  @Test
  void makesCallersWaitUntilItOpens() {
    OneShotLatch gate = new OneShotLatch();
    AtomicInteger retries = new AtomicInteger();
    assertThat(gate.mustWait(retries::incrementAndGet)).isTrue();
    assertThat(gate.mustWait(retries::incrementAndGet)).isTrue();
    assertThat(retries).hasValue(0);
    gate.open();
    assertThat(retries).hasValue(2);
    assertThat(gate.mustWait(retries::incrementAndGet)).isFalse();
    assertThat(retries).hasValue(2);
  }
}
