package io.eventbus.server.subscription;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.samples.FakeSubscriber;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Changes of subscriptions that make long routes be rebuilt again and again. */
class RebuildBudgetTest {
  private static final int SUBSCRIBERS = 1_000;
  private static final int MAX_CHANGES = 1_000;

  private final SubscriptionIndex index = new SubscriptionIndex(1);
  private final MatchResult matches = new MatchResult();
  private final List<RoutedSubscription> added = new ArrayList<>();
  private long nowNanos;

  private void add(String filter, int count) {
    for (int i = 0; i < count; i++) {
      RoutedSubscription s =
          new RoutedSubscription(
              new FakeSubscriber(0), i, TopicFilter.parse(filter), null, Overflow.BLOCK);
      index.add(s);
      added.add(s);
    }
  }

  private boolean mustWait(String filter) {
    return waitMillis(filter) > 0;
  }

  /** Returns the wait, rounded up. */
  private long waitMillis(String filter) {
    long nanos = index.waitNanos(TopicFilter.parse(filter), nowNanos);
    return (nanos + 999_999) / 1_000_000;
  }

  private void pass(long millis) {
    nowNanos += TimeUnit.MILLISECONDS.toNanos(millis);
  }

  /** Publishes, as it were, after each change, until changes have to wait; returns how many. */
  private int changeUntilTheyWait(String topic) {
    TopicRoute route = new TopicRoute(topic, index);
    index.refresh(route, matches);
    for (int i = 0; i < MAX_CHANGES; i++) {
      if (mustWait(">")) {
        index.forget(route);
        return i;
      }
      add(">", 1);
      index.refresh(route, matches);
    }
    return MAX_CHANGES;
  }

  @Test
  void changesWaitAndGoOnTogether() {
    add("a.b", SUBSCRIBERS);
    assertThat(changeUntilTheyWait("a.b")).isBetween(1, MAX_CHANGES - 1);

    assertThat(mustWait("x.*")).as("another with wildcards").isTrue();
    assertThat(mustWait("a.b")).as("a topic with many subscribers").isTrue();
    assertThat(mustWait("x.y")).as("a topic with few").isFalse();
    pass(waitMillis(">") - 1);
    assertThat(mustWait(">")).isTrue();
    pass(waitMillis(">"));
    assertThat(mustWait(">")).isFalse();

    makeAgain(1_000);
    assertThat(mustWait("x.*")).as("in the same moment").isFalse();
    pass(100);
    assertThat(mustWait("x.*")).isTrue();
    assertThat(index.changesDelayed()).isPositive();
  }

  @Test
  void aTopicThatManySelectWithWildcardsConcernsThem() {
    add("a.*", SUBSCRIBERS);
    makeAgain(MAX_CHANGES);
    assertThat(mustWait("a.c")).isTrue();
    assertThat(mustWait("b.c")).isFalse();
  }

  @Test
  void howeverMuchWasSpentTheWaitIsBounded() {
    add("a.*", SUBSCRIBERS);
    makeAgain(MAX_CHANGES);
    assertThat(waitMillis(">")).isBetween(2_000L, 4_000L);
    for (int i = 0; i < 10; i++) {
      pass(3_001);
      assertThat(mustWait(">")).isFalse();
      makeAgain(MAX_CHANGES);
      pass(100);
      assertThat(mustWait(">")).isTrue();
    }
  }

  /** Rebuilds routes, so many times. */
  private void makeAgain(int times) {
    TopicRoute route = new TopicRoute("a.b", index);
    index.refresh(route, matches);
    for (int i = 0; i < times; i++) {
      add("a.b", 1);
      index.refresh(route, matches);
      index.remove(added.remove(added.size() - 1));
      index.refresh(route, matches);
    }
    index.forget(route);
  }

  @Test
  void shortRoutesAreNotCounted() {
    add("a.b", 10);
    TopicRoute route = new TopicRoute("a.b", index);
    for (int i = 0; i < MAX_CHANGES; i++) {
      index.refresh(route, matches);
      add(">", 1);
      index.remove(added.remove(added.size() - 1));
    }
    assertThat(mustWait(">")).isFalse();
  }

  @Test
  void topicsThatAreNewAreForTheirPublishers() {
    add("a.*", SUBSCRIBERS);
    for (int i = 0; i < SUBSCRIBERS; i++) {
      index.refresh(new TopicRoute("a." + i, index), matches);
    }
    assertThat(mustWait(">")).isFalse();
    assertThat(matches.takeWork()).isGreaterThanOrEqualTo(SUBSCRIBERS);
  }

  /** Subscriptions end with their connections, which wait for nothing. */
  @Test
  void waitingChangesProceedWhileOthersSpendTheBudget() {
    RebuildBudget budget = new RebuildBudget();
    budget.spend(1_000_000);
    assertThat(budget.waitNanos(nowNanos)).isPositive();
    for (int waited = 0; waited < 2_900; waited += 100) {
      pass(100);
      budget.spend(1_000_000);
      long left = TimeUnit.MILLISECONDS.toNanos(2_900 - waited);
      assertThat(budget.waitNanos(nowNanos)).isBetween(1L, left);
    }
    pass(100);
    budget.spend(1_000_000);
    assertThat(budget.waitNanos(nowNanos)).as("three seconds have passed").isZero();
    pass(30);
    assertThat(budget.waitNanos(nowNanos)).as("who comes later").isPositive();
  }
}
