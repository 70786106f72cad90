package io.eventbus.loadtest.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class FaultTest {
  @Test
  void readsTheFormOfTheCommandLine() {
    assertThat(Fault.parse("drop:1000000")).isEqualTo(new Fault(Fault.Kind.DROP, 1_000_000));
    assertThat(Fault.parse("swap:2")).hasToString("swap:2");
  }

  @Test
  void refusesEverythingElse() {
    for (String text : new String[] {"", "drop", "drop:", "drop:x", "drop:1", "lose:3"}) {
      assertThatIllegalArgumentException()
          .as(text)
          .isThrownBy(() -> Fault.parse(text))
          .withMessageContaining("expected");
    }
  }
}
