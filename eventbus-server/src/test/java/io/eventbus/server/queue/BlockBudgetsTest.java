package io.eventbus.server.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BlockBudgetsTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final BlockBudgets budgets = new BlockBudgets(Duration.ofSeconds(5));

  @Test
  void connectionsOfOneOwnerShareABudget() {
    BlockBudgets.Shared one = budgets.acquire("a", 0);
    BlockBudgets.Shared two = budgets.acquire("a", 0);
    BlockBudgets.Shared other = budgets.acquire("b", 0);
    one.charge(5 * SECOND);
    assertThat(two.isUsedUp(SECOND)).isTrue();
    assertThat(one.isUsedUp(SECOND)).isTrue();
    assertThat(other.isUsedUp(SECOND)).isFalse();
  }

  /** Otherwise two connections would check twice as often, and count twice as much. */
  @Test
  void publishersThatAreHeldTogetherCountOnceForAllConnections() {
    BlockBudgets.Shared[] connections = new BlockBudgets.Shared[10];
    for (int i = 0; i < connections.length; i++) {
      connections[i] = budgets.acquire("a", 0);
    }
    for (int tick = 1; tick <= 40; tick++) {
      for (BlockBudgets.Shared connection : connections) {
        connection.charge(SECOND / 10);
        assertThat(connection.isUsedUp(tick * SECOND / 10)).as("tick " + tick).isFalse();
      }
    }
  }

  @Test
  void aBudgetOutlivesItsConnectionForAMinute() {
    BlockBudgets.Shared first = budgets.acquire("a", 0);
    first.charge(6 * SECOND);
    budgets.release(first, SECOND);
    BlockBudgets.Shared again = budgets.acquire("a", 2 * SECOND);
    assertThat(again.isUsedUp(2 * SECOND)).isTrue();
    budgets.release(again, 3 * SECOND);
    assertThat(budgets.acquire("b", 62 * SECOND)).isNotNull();
    assertThat(budgets.size()).isEqualTo(2);
    budgets.acquire("c", 63 * SECOND);
    assertThat(budgets.size()).as("a is forgotten").isEqualTo(2);
    assertThat(budgets.acquire("a", 63 * SECOND).isUsedUp(63 * SECOND)).isFalse();
  }

  @Test
  void entriesWithoutAConnectionAreBounded() {
    BlockBudgets.Shared stays = budgets.acquire("stays", 0);
    for (int i = 0; i < 2 * BlockBudgets.MAX_IDLE; i++) {
      budgets.release(budgets.acquire("owner " + i, i), i);
    }
    assertThat(budgets.size()).isEqualTo(BlockBudgets.MAX_IDLE + 1);
    assertThat(budgets.acquire("stays", SECOND)).isSameAs(stays);
  }
}
