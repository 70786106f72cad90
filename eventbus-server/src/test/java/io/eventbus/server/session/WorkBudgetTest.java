package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class WorkBudgetTest {
  private final AtomicLong clock = new AtomicLong();
  private final WorkBudget budget = new WorkBudget(clock::get);

  /** Lets a client cause work in one go. */
  private void work(WorkBudget.Share share, int units) {
    budget.enter(share);
    budget.spend(units);
    budget.leave();
  }

  private boolean mustYield(WorkBudget.Share share) {
    budget.enter(share);
    boolean yields = budget.mustYield();
    budget.leave();
    return yields;
  }

  @Test
  void aHeavyClientYieldsWhenTheTurnIsUsedUp() {
    WorkBudget.Share heavy = new WorkBudget.Share();
    work(heavy, 8_191);
    assertThat(mustYield(heavy)).isFalse();
    work(heavy, 1);
    assertThat(mustYield(heavy)).isTrue();
    budget.renew();
    assertThat(mustYield(heavy)).isFalse();
  }

  @Test
  void aLightClientGoesOn() {
    WorkBudget.Share heavy = new WorkBudget.Share();
    WorkBudget.Share light = new WorkBudget.Share();
    work(heavy, 10_000);
    assertThat(mustYield(light)).isFalse();
    work(light, 1_023);
    assertThat(mustYield(light)).isFalse();
    work(light, 1);
    assertThat(mustYield(light)).isTrue();
    budget.nextWindow();
    assertThat(mustYield(light)).as("a new window").isFalse();
    assertThat(mustYield(heavy))
        .as("the turn is used up, but this client has done nothing lately")
        .isFalse();
  }

  @Test
  void countsTheWorkInProgress() {
    WorkBudget.Share light = new WorkBudget.Share();
    budget.enter(light);
    budget.spend(10_000);
    assertThat(budget.mustYield()).isTrue();
    budget.leave();
  }

  @Test
  void boundsACrowdOfLightClients() {
    work(new WorkBudget.Share(), 8_192);
    int through = 0;
    while (!mustYield(new WorkBudget.Share())) {
      work(new WorkBudget.Share(), 1_000);
      through++;
    }
    assertThat(through).isEqualTo(238);
    budget.nextWindow();
    assertThat(mustYield(new WorkBudget.Share())).isFalse();
  }

  @Test
  void countsLongWorkByTheClock() {
    WorkBudget.Share slow = new WorkBudget.Share();
    budget.enter(slow);
    long began = budget.now();
    clock.addAndGet(1_048_576);
    budget.spendSince(began);
    budget.leave();
    assertThat(budget.total()).isEqualTo(8_192);
    assertThat(mustYield(slow)).isTrue();
  }

  @Test
  void turnsAreShorterWhenManyWait() {
    WorkBudget.Share one = new WorkBudget.Share();
    budget.renew(8);
    work(one, 1_024);
    assertThat(mustYield(one)).isTrue();
    budget.renew(1_000);
    work(one, 511);
    assertThat(mustYield(one)).isFalse();
    work(one, 1);
    assertThat(mustYield(one)).isTrue();
  }

  @Test
  void countsTheTurnOnlyWithoutAnEnteredClient() {
    budget.spend(8_191);
    assertThat(budget.mustYield()).isFalse();
    budget.spend(1);
    assertThat(budget.mustYield()).isTrue();
  }
}
