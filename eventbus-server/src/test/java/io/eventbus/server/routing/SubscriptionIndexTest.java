package io.eventbus.server.routing;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.samples.FakeSubscriber;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which changes a remembered route outlives; what it holds is in the properties. */
class SubscriptionIndexTest {
  private final SubscriptionIndex index = new SubscriptionIndex(1);

  private void comeAndGo(String filter) {
    Subscription s =
        new Subscription(new FakeSubscriber(0), 1, TopicFilter.parse(filter), null, Overflow.BLOCK);
    index.add(s);
    index.remove(s);
  }

  @ParameterizedTest
  @ValueSource(strings = {"flights", "flights.BOS", "other.*", "other.>", "other.*.landed"})
  void aChangeElsewhereLeavesARouteValid(String filter) {
    Route route = index.lookup("flights.JFK.landed");
    comeAndGo(filter);
    assertThat(index.holds(route)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"flights.JFK.landed", "flights.*.landed", "flights.>", ">", "*.JFK.landed", "*.>"})
  void aChangeThatConcernsItDoesNot(String filter) {
    Route route = index.lookup("flights.JFK.landed");
    comeAndGo(filter);
    assertThat(index.holds(route)).isFalse();
  }

  @Test
  void aTopicOfOneTokenIsItsOwnFirstToken() {
    Route route = index.lookup("flights");
    comeAndGo("flights.>");
    assertThat(index.holds(route)).isFalse();
  }
}
