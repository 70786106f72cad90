package io.eventbus.registry.ratis;

import static org.assertj.core.api.Assertions.assertThatCode;

import org.junit.jupiter.api.Test;

class FirstUseTest {
  @Test
  void everythingCanBeUsed() {
    // What it runs in a bus is told to nobody.
    assertThatCode(FirstUse::go).doesNotThrowAnyException();
  }
}
