package io.eventbus.loadtest.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SpreadTest {
  @Test
  void aPercentileIsATimeThatSoManyDidNotExceed() {
    Spread spread = new Spread(List.of(4.0, 1.0, 3.0, 2.0));
    assertThat(spread.at(50)).isEqualTo(2);
    assertThat(spread.at(51)).isEqualTo(3);
    assertThat(spread.at(99)).isEqualTo(4);
    assertThat(spread.at(100)).isEqualTo(4);
    assertThat(spread.at(0)).isEqualTo(1);
    assertThat(Spread.NONE.at(50)).isEqualTo(-1);
  }
}
