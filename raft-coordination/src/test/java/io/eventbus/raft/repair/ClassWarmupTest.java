package io.eventbus.raft.repair;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ClassWarmupTest {
  @Test
  void everythingCanBeUsed() throws IOException {
    AtomicInteger steps = new AtomicInteger();
    // Not run(), which hides errors.
    new ClassWarmup(steps::incrementAndGet).go();
    assertThat(steps).hasValue(1);
  }
}
