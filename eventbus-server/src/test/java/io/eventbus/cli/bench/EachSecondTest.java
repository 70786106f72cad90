package io.eventbus.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class EachSecondTest {
  private final List<String> told = new ArrayList<>();

  @Test
  void ratesAreOfTheTimeSinceTheLastLine() {
    EachSecond each =
        new EachSecond(
            (measuring, elapsed, published, delivered) ->
                told.add(measuring + " " + elapsed + " " + published + " " + delivered),
            Duration.ofSeconds(2));
    each.begin(-500);
    each.look(999_999_000, 7, () -> 9);
    assertThat(told).isEmpty();
    each.look(999_999_500, 100, () -> 300);
    each.look(1_500_000_000L, 150, () -> 310);
    each.look(2_999_999_500L, 300, () -> 500);
    assertThat(told).containsExactly("false 1.0 100.0 300.0", "true 3.0 100.0 100.0");
  }
}
