package io.eventbus.server.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BlockBudgetTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  @Test
  void theCapacityUsesTheBudgetUp() {
    BlockBudget budget = new BlockBudget(Duration.ofSeconds(5), 0);
    budget.charge(4 * SECOND);
    assertThat(budget.isUsedUp(0)).isFalse();
    budget.charge(SECOND);
    assertThat(budget.isUsedUp(0)).isTrue();
  }

  /** Otherwise many publishers could use it up in a moment. */
  @Test
  void publishersThatAreHeldTogetherCountOnce() {
    BlockBudget budget = new BlockBudget(Duration.ofSeconds(5), 0);
    for (int publisher = 0; publisher < 100; publisher++) {
      budget.charge(SECOND);
    }
    assertThat(budget.isUsedUp(0)).isFalse();
    budget.charge(4 * SECOND);
    assertThat(budget.isUsedUp(0)).isTrue();
  }

  @Test
  void unusedBudgetComesBackWithinAMinute() {
    BlockBudget budget = new BlockBudget(Duration.ofSeconds(6), 0);
    for (int second = 1; second <= 600; second++) {
      budget.charge(SECOND / 20);
      assertThat(budget.isUsedUp(second * SECOND)).as("a twentieth of the time").isFalse();
    }
    int held = 0;
    for (int second = 601; !budget.isUsedUp(second * SECOND); second++) {
      budget.charge(SECOND);
      held++;
    }
    assertThat(held).as("nothing comes back while it is used").isEqualTo(6);
  }

  /** Otherwise reconnecting again and again would allow a stall for a moment each time. */
  @Test
  void aUsedUpBudgetStaysSoUntilAllHasComeBack() {
    BlockBudget budget = new BlockBudget(Duration.ofSeconds(5), 0);
    budget.charge(5 * SECOND);
    assertThat(budget.isUsedUp(5 * SECOND)).isTrue();
    for (int second = 6; second < 65; second++) {
      assertThat(budget.isUsedUp(second * SECOND)).as("after %s s", second).isTrue();
    }
    assertThat(budget.isUsedUp(66 * SECOND)).isFalse();
  }

  @Test
  void zeroIsNoLimit() {
    BlockBudget budget = new BlockBudget(Duration.ZERO, 0);
    budget.charge(Long.MAX_VALUE / 2);
    assertThat(budget.isUsedUp(SECOND)).isFalse();
  }
}
