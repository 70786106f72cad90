package io.eventbus.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RareLinesTest {
  @Test
  void admitsOneLineInTenSecondsWithACountOfTheOthers() {
    long now = Long.MAX_VALUE - 5;
    RareLines lines = new RareLines(now);
    assertThat(lines.admit(now)).isZero();
    assertThat(lines.admit(now + 1)).isEqualTo(-1);
    assertThat(lines.admit(now + TimeUnit.SECONDS.toNanos(9))).isEqualTo(-1);
    assertThat(lines.admit(now + TimeUnit.SECONDS.toNanos(10))).isEqualTo(2);
    assertThat(lines.admit(now + TimeUnit.SECONDS.toNanos(11))).isEqualTo(-1);
  }
}
