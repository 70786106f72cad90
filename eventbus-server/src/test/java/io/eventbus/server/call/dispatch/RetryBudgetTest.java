package io.eventbus.server.call.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RetryBudgetTest {
  private static final long MILLIS = 1_000_000;

  private static int takeAll(RetryBudget budget, long now) {
    int taken = 0;
    while (budget.tryAcquire(now)) {
      taken++;
    }
    return taken;
  }

  @Test
  void theReserveRecovers() {
    RetryBudget budget = new RetryBudget(10, 0);
    assertThat(takeAll(budget, 0)).isEqualTo(100);
    // Ten a second, as long as it is nearly empty.
    assertThat(takeAll(budget, 1_000 * MILLIS)).isEqualTo(9);
    assertThat(takeAll(budget, 100_000 * MILLIS)).isBetween(99, 100);
  }

  @Test
  void requestsOfTheLastSecondsCount() {
    RetryBudget budget = new RetryBudget(10, 0);
    long now = 0;
    for (int i = 0; i < 60_000; i++) {
      now += MILLIS;
      budget.onRequest(now);
    }
    // A thousand a second for ten seconds: a tenth of that, and the reserve.
    assertThat(takeAll(budget, now)).isBetween(1_090, 1_110);
    assertThat(takeAll(new RetryBudget(0, 0), 0)).isEqualTo(100);
  }
}
