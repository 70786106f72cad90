package io.eventbus.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.samples.FakeSubscriber;
import io.eventbus.server.samples.ReachableHeap;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.subscription.SubscriptionIndex;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Heap of subscriptions: the measured growth is what the index counts; the figures in
 * docs/configuration.md are printed here.
 */
class SubscriptionHeapTest {
  private static final int MANY = 20_000;
  private static final int OF_ONE_SESSION = 100;

  private final SubscriptionIndex index = new SubscriptionIndex(1);
  private final FakeSubscriber subscriber = new FakeSubscriber(0);
  private final List<Kept> sessions = new ArrayList<>();

  /** State kept by a session. */
  private record Kept(Map<Long, RoutedSubscription> byId, DeduplicatedSubscriptions equal) {}

  private void subscribe(long id, String filter) {
    RoutedSubscription subscription =
        new RoutedSubscription(subscriber, id, TopicFilter.parse(filter), null, Overflow.BLOCK);
    if (id % OF_ONE_SESSION == 0) {
      sessions.add(new Kept(new ConcurrentHashMap<>(4), new DeduplicatedSubscriptions(index)));
    }
    Kept session = sessions.get(sessions.size() - 1);
    session.byId.put(id, subscription);
    session.equal.add(subscription);
  }

  /** Returns the filter with a number. */
  private static IntFunction<String> filters(String kind) {
    return switch (kind) {
      case "plain topic" -> i -> "flights." + i + ".landed";
      case "one wildcard" -> i -> "flights." + i + ".*";
      case "sixteen plain tokens" -> i -> sixteen(i, "x");
      case "sixteen tokens of their own" -> i -> sixteen(i, "*");
      case "one filter for all" -> i -> "flights.*.landed";
      case "one filter for each session" -> i -> "flights." + i / OF_ONE_SESSION + ".*";
      default -> throw new IllegalArgumentException(kind);
    };
  }

  private static String sixteen(int i, String last) {
    StringBuilder filter = new StringBuilder();
    for (int token = 0; token < 15; token++) {
      filter.append(i).append('_').append(token).append('.');
    }
    return filter.append(last).toString();
  }

  @ParameterizedTest
  @CsvSource({
    "plain topic, 600",
    "one wildcard, 900",
    "one filter for all, 600",
    "one filter for each session, 600",
    "sixteen plain tokens, 800",
    "sixteen tokens of their own, 3200"
  })
  void theCountIsWhatTheHeapGrowsBy(String kind, long maximum) {
    IntFunction<String> filter = filters(kind);
    long before = ReachableHeap.bytes(index, sessions);
    for (int i = 0; i < MANY; i++) {
      subscribe(1000 + i, filter.apply(i));
    }
    long measured = (ReachableHeap.bytes(index, sessions) - before) / MANY;
    long counted = index.bytes() / MANY;
    System.out.println(kind + ": " + measured + " bytes of heap, counted as " + counted);
    assertThat(measured).isLessThan(maximum);
    assertThat(counted).isBetween((long) (measured * 0.9), measured * 2);
    for (var session : sessions) {
      var left = session.equal.leave();
      while (session.equal.removeSome(left)) {
        assertThat(index.size()).isPositive();
      }
    }
    assertThat(index.bytes()).isZero();
    assertThat(index.size()).isZero();
  }

  @Test
  void doesNotUncountAMissingService() {
    subscribe(0, "a.*.b");
    subscribe(1, "a.*.c");
    long both = index.bytes();
    RoutedSubscription never =
        new RoutedSubscription(subscriber, 3, TopicFilter.parse("a.*.b"), null, Overflow.BLOCK);
    index.remove(never);
    assertThat(index.bytes()).isEqualTo(both);
    assertThat(index.size()).isEqualTo(2);
  }
}
