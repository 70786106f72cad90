package io.eventbus.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DurationTextTest {
  @ParameterizedTest
  @CsvSource({
    "PT0S, 0s",
    "PT0.000000001S, 1ms",
    "PT0.03S, 30ms",
    "PT1.5S, 1500ms",
    "PT10S, 10s",
    "PT90S, 90s",
    "PT2M, 2m",
    "PT90M, 90m",
    "PT24H, 24h"
  })
  void isWrittenAsItIsConfigured(Duration span, String text) {
    assertThat(DurationText.of(span)).isEqualTo(text);
  }

  @Test
  void moreThanCanBeCountedIsForEver() {
    assertThat(DurationText.of(Duration.ofSeconds(Long.MAX_VALUE))).isEqualTo("for ever");
  }
}
