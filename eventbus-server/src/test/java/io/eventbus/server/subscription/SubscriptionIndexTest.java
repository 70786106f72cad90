package io.eventbus.server.subscription;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.samples.FakeSubscriber;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Changes that a remembered route survives; its content is in the properties. */
class SubscriptionIndexTest {
  private final SubscriptionIndex index = new SubscriptionIndex(1);

  private RoutedSubscription add(String filter) {
    RoutedSubscription s =
        new RoutedSubscription(
            new FakeSubscriber(0), 1, TopicFilter.parse(filter), null, Overflow.BLOCK);
    index.add(s);
    return s;
  }

  private void comeAndGo(String filter) {
    RoutedSubscription s = add(filter);
    index.remove(s);
  }

  @ParameterizedTest
  @ValueSource(strings = {"flights", "flights.BOS", "other.*", "other.>", "other.*.landed"})
  void aChangeElsewhereLeavesARouteValid(String filter) {
    TopicRoute route = Routes.lookup(index, "flights.JFK.landed");
    comeAndGo(filter);
    assertThat(index.isCurrent(route)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"flights.JFK.landed", "flights.*.landed", "flights.>", ">", "*.JFK.landed", "*.>"})
  void aChangeThatConcernsItDoesNot(String filter) {
    TopicRoute route = Routes.lookup(index, "flights.JFK.landed");
    comeAndGo(filter);
    assertThat(index.isCurrent(route)).isFalse();
  }

  @Test
  void aTopicOfOneTokenIsItsOwnFirstToken() {
    TopicRoute route = Routes.lookup(index, "flights");
    comeAndGo("flights.>");
    assertThat(index.isCurrent(route)).isFalse();
  }

  @Test
  void topicsThatTheSameFiltersSelectHaveOneRoute() {
    add("flights.>");
    add("*.*.landed");
    add("flights.JFK.landed");
    TopicRoute one = Routes.lookup(index, "flights.BOS.landed");
    TopicRoute other = Routes.lookup(index, "flights.LAX.landed");
    assertThat(one.route.targetCount()).isEqualTo(2);
    assertThat(other.route).isSameAs(one.route);
    assertThat(Routes.lookup(index, "flights.JFK.landed").route).isNotSameAs(one.route);
    assertThat(Routes.lookup(index, "flights.BOS.departed").route).isNotSameAs(one.route);
    assertThat(index.routeCount()).isEqualTo(3);
  }

  @Test
  void aChangeThatIsUndoneLeavesTheRoute() {
    add("flights.>");
    TopicRoute topic = Routes.lookup(index, "flights.JFK");
    Route before = topic.route;
    comeAndGo(">");
    assertThat(index.isCurrent(topic)).isFalse();
    index.refresh(topic, new MatchResult());
    assertThat(index.isCurrent(topic)).isTrue();
    assertThat(topic.route).isSameAs(before);
  }

  @Test
  void aSetWithANewMemberHasANewStamp() {
    RoutedSubscription first = add("flights.>");
    TopicRoute topic = Routes.lookup(index, "flights.JFK");
    Route before = topic.route;
    RoutedSubscription second = add("flights.>");
    index.remove(first);
    index.refresh(topic, new MatchResult());
    assertThat(topic.route).isNotSameAs(before);
    assertThat(topic.route.byLoop()[0]).containsExactly(second.target());
    index.remove(second);
    index.refresh(topic, new MatchResult());
    assertThat(topic.route).isSameAs(index.nobody());
  }

  @Test
  void aRouteIsCountedOnceUntilTheLastTopicForgetsIt() {
    add("flights.>");
    TopicRoute one = Routes.lookup(index, "flights.BOS");
    long bytes = index.routeBytes();
    assertThat(bytes).isEqualTo(one.route.bytes).isPositive();
    TopicRoute other = Routes.lookup(index, "flights.LAX");
    assertThat(index.routeBytes()).isEqualTo(bytes);
    index.forget(one);
    assertThat(index.isCurrent(one)).isFalse();
    assertThat(one.route).isSameAs(index.nobody());
    // Twice has no effect.
    index.forget(one);
    assertThat(index.routeBytes()).isEqualTo(bytes);
    index.forget(other);
    assertThat(index.routeBytes()).isZero();
    assertThat(index.routeCount()).isZero();
  }

  @Test
  void countingSubscribersMakesNoRoute() {
    // A route would have no place for a subscriber on a loop that does not exist.
    FakeSubscriber elsewhere = new FakeSubscriber(9);
    for (String group : Arrays.asList(null, "workers", "others")) {
      TopicFilter filter = TopicFilter.parse("flights.*");
      index.add(new RoutedSubscription(elsewhere, 1, filter, group, Overflow.BLOCK));
    }
    add("flights.JFK");
    add("flights.JFK");
    assertThat(index.subscribers(List.of("flights.JFK", "flights.LAX", "other", "flights.BOS")))
        .containsExactly(5, 3, 0, 3);
    assertThat(index.routeBytes()).isZero();
  }

  @Test
  void aRouteWithoutRoomIsNotShared() {
    SubscriptionIndex small = new SubscriptionIndex(1, 1000);
    for (String filter : new String[] {"a", "b", "c"}) {
      small.add(
          new RoutedSubscription(
              new FakeSubscriber(0), 1, TopicFilter.parse(filter), null, Overflow.BLOCK));
    }
    TopicRoute a = Routes.lookup(small, "a");
    TopicRoute b = Routes.lookup(small, "b");
    TopicRoute c = Routes.lookup(small, "c");
    assertThat(a.route.isShared()).isTrue();
    assertThat(c.route.isShared()).isFalse();
    assertThat(c.route.targetCount()).as("good for use").isEqualTo(1);
    assertThat(small.routeBytes()).isLessThanOrEqualTo(500);
    small.forget(a);
    small.forget(b);
    small.share(c);
    assertThat(c.route.isShared()).isTrue();
    assertThat(small.routeBytes()).isEqualTo(c.route.bytes);
  }

  @Test
  void aTopicIsWantedByClientsAndByOtherBuses() {
    add(">");
    assertThat(index.isWanted("$SYS.bus.a.stats")).isFalse();
    RoutedSubscription here = add("$SYS.bus.*.stats");
    assertThat(index.isWanted("$SYS.bus.a.stats")).isTrue();
    assertThat(index.isWanted("$SYS.bus.a.events")).isFalse();
    index.remove(here);
    assertThat(index.isWanted("$SYS.bus.a.stats")).isFalse();
    index.add(
        new RoutedSubscription(
            new RemoteBus() {}, 0, TopicFilter.parse("$SYS.>"), null, Overflow.DROP_OLDEST));
    assertThat(index.isWanted("$SYS.bus.a.stats")).isTrue();
  }
}
