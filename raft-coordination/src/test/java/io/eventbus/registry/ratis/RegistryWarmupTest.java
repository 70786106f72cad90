package io.eventbus.registry.ratis;

import static org.assertj.core.api.Assertions.assertThatCode;

import org.junit.jupiter.api.Test;

class RegistryWarmupTest {
  @Test
  void everythingCanBeUsed() {
    // The warm-up itself hides errors.
    assertThatCode(RegistryWarmup::run).doesNotThrowAnyException();
  }
}
