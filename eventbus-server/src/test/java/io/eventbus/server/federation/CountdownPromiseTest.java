package io.eventbus.server.federation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class CountdownPromiseTest {
  @Test
  void aPromiseIsKeptOnceOrBrokenOnce() {
    AtomicInteger kept = new AtomicInteger();
    AtomicInteger broken = new AtomicInteger();
    CountdownPromise promise =
        new CountdownPromise(2, ok -> (ok ? kept : broken).incrementAndGet());
    promise.part();
    assertThat(kept).hasValue(0);
    promise.part();
    assertThat(kept).hasValue(1);
    assertThat(promise.fail()).isFalse();
    CountdownPromise late = new CountdownPromise(2, ok -> (ok ? kept : broken).incrementAndGet());
    late.part();
    assertThat(late.fail()).isTrue();
    late.part();
    assertThat(kept).hasValue(1);
    assertThat(broken).hasValue(1);
  }
}
