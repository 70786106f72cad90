package io.eventbus.server.routing;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.samples.FakeSubscriber;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Changes of subscriptions that make long routes be made again and again. */
class RebuildBudgetTest {
  private static final int SUBSCRIBERS = 1_000;
  private static final int MOST_CHANGES = 100_000;

  private final SubscriptionIndex index = new SubscriptionIndex(1);
  private final Matches matches = new Matches();
  private final List<Subscription> added = new ArrayList<>();
  private final List<String> called = new ArrayList<>();
  private long nowNanos;

  private void add(String filter, int count) {
    for (int i = 0; i < count; i++) {
      Subscription s =
          new Subscription(
              new FakeSubscriber(0), i, TopicFilter.parse(filter), null, Overflow.BLOCK);
      index.add(s);
      added.add(s);
    }
  }

  private boolean mustWait(String filter) {
    return index.mustWait(TopicFilter.parse(filter), () -> called.add(filter));
  }

  private void tick(long millis) {
    nowNanos += TimeUnit.MILLISECONDS.toNanos(millis);
    index.onTick(nowNanos);
  }

  /** Publishes, as it were, after each change, until changes have to wait; returns how many. */
  private int changeUntilTheyWait(String topic) {
    TopicRoute route = new TopicRoute(topic, index.nobody());
    index.refresh(route, matches);
    for (int i = 0; i < MOST_CHANGES; i++) {
      if (mustWait(">")) {
        index.forget(route);
        return i;
      }
      add(">", 1);
      index.refresh(route, matches);
    }
    return MOST_CHANGES;
  }

  @Test
  void changesWaitAndGoOnTogether() {
    add("a.b", SUBSCRIBERS);
    tick(1_000);
    assertThat(changeUntilTheyWait("a.b")).isBetween(1, MOST_CHANGES - 1);

    assertThat(mustWait("x.*")).as("another").isTrue();
    assertThat(mustWait("a.b")).as("a topic with many subscribers").isTrue();
    assertThat(mustWait("a.c")).as("a topic with few").isFalse();
    tick(1);
    assertThat(called).isEmpty();
    tick(10_000);
    assertThat(called).containsExactlyInAnyOrder(">", "x.*", "a.b");
    assertThat(mustWait(">")).isFalse();
  }

  @Test
  void shortRoutesAreNotCounted() {
    add("a.b", 10);
    TopicRoute route = new TopicRoute("a.b", index.nobody());
    for (int i = 0; i < MOST_CHANGES; i++) {
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
      index.refresh(new TopicRoute("a." + i, index.nobody()), matches);
    }
    assertThat(mustWait(">")).isFalse();
    assertThat(matches.takeWork()).isGreaterThanOrEqualTo(SUBSCRIBERS);
  }
}
