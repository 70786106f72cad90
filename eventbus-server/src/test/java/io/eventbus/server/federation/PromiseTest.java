package io.eventbus.server.federation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PromiseTest {
  @Test
  void aPromiseIsKeptOnceOrBrokenOnce() {
    AtomicInteger kept = new AtomicInteger();
    AtomicInteger broken = new AtomicInteger();
    Promise promise = new Promise(2, ok -> (ok ? kept : broken).incrementAndGet());
    promise.part();
    assertThat(kept).hasValue(0);
    promise.part();
    assertThat(kept).hasValue(1);
    assertThat(promise.fail()).isFalse();
    Promise late = new Promise(2, ok -> (ok ? kept : broken).incrementAndGet());
    late.part();
    assertThat(late.fail()).isTrue();
    late.part();
    assertThat(kept).hasValue(1);
    assertThat(broken).hasValue(1);
  }
}
