package io.eventbus.loadtest.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.loadtest.driver.DriverException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ParallelConnectingTest {
  private static final CountDownLatch NEVER = new CountDownLatch(1);

  private static int hang() {
    try {
      NEVER.await();
      return 0;
    } catch (InterruptedException e) {
      throw new DriverException("interrupted", e);
    }
  }

  @Test
  void clientsComeByNumber() throws Exception {
    assertThat(ParallelConnecting.all(40, i -> i * i))
        .hasSize(40)
        .startsWith(0, 1, 4)
        .endsWith(1521);
  }

  @Test
  void theFirstFailureIsToldWhileOthersStillWait() {
    assertThatThrownBy(
            () ->
                ParallelConnecting.all(
                    3,
                    i -> {
                      if (i == 1) {
                        throw new DriverException("refused");
                      }
                      return hang();
                    }))
        .isInstanceOf(DriverException.class)
        .hasMessage("refused");
  }

  @Test
  void whatIsNoFailureOfTheSystemIsToldWithItsCause() {
    assertThatThrownBy(
            () ->
                ParallelConnecting.all(
                    1,
                    i -> {
                      throw new IllegalStateException("a fault");
                    }))
        .isInstanceOf(DriverException.class)
        .hasRootCauseMessage("a fault");
  }

  @Test
  void onlyThoseThatConnectedCountAsConnected() {
    assertThatThrownBy(
            () -> ParallelConnecting.all(3, i -> i < 2 ? i : hang(), Duration.ofMillis(500)))
        .isInstanceOf(DriverException.class)
        .hasMessageMatching("[0-2] of 3 clients connected within 500 ms");
  }
}
