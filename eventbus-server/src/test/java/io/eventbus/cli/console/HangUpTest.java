package io.eventbus.cli.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HangUpTest {
  @Test
  void eachSignalRunsTheTask() throws Exception {
    Semaphore ran = new Semaphore(0);
    assertThat(HangUp.handle(ran::release)).isTrue();
    Class<?> signal = Class.forName("sun.misc.Signal");
    Object hangUp = signal.getConstructor(String.class).newInstance("HUP");
    for (int i = 0; i < 2; i++) {
      signal.getMethod("raise", signal).invoke(null, hangUp);
      assertThat(ran.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
    }
  }
}
