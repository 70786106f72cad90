package io.eventbus.server.federation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class FenceTest {
  @Test
  void keepsBackUntilItIsOpened() {
    Fence fence = new Fence();
    AtomicInteger retries = new AtomicInteger();
    assertThat(fence.mustWait(retries::incrementAndGet)).isTrue();
    assertThat(fence.mustWait(retries::incrementAndGet)).isTrue();
    assertThat(retries).hasValue(0);
    fence.open();
    assertThat(retries).hasValue(2);
    assertThat(fence.mustWait(retries::incrementAndGet)).isFalse();
    assertThat(retries).hasValue(2);
  }

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
