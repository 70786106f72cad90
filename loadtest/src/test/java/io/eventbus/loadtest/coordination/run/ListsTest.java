package io.eventbus.loadtest.coordination.run;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ListsTest {
  @Test
  void aNameIsEnteredOnceAndTakenOutAgain() {
    String entered = Lists.toggle("a,b", "c");
    assertThat(entered).isEqualTo("a,b,c");
    assertThat(Lists.toggle(entered, "a")).isEqualTo("b,c");
  }
}
