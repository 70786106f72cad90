package io.eventbus.loadtest.coordination;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CounterTest {
  @Test
  void aValueBeginsWithIt() {
    assertThat(Counter.of("    120")).isEqualTo(120);
    assertThat(Counter.of("7 a,b")).isEqualTo(7);
    assertThat(Counter.of("0")).isZero();
    assertThat(Counter.of("")).isEqualTo(-1);
    assertThat(Counter.of("x1")).isEqualTo(-1);
  }
}
