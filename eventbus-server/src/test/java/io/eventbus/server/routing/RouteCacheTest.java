package io.eventbus.server.routing;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.PublishView;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.subscription.Routes;
import io.eventbus.server.subscription.SubscriptionIndex;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RouteCacheTest {
  private static final int MANY = 300_000;

  private static final long BYTES = 32 << 20;

  private final SubscriptionIndex index = new SubscriptionIndex(1);
  private final RouteCache cache = new RouteCache(index.shared(), BYTES);

  @AfterEach
  void assertNoLeaks() {
    cache.clear();
    assertThat(cache.list()).isEmpty();
    assertThat(index.routeBytes()).isZero();
    assertThat(index.topics()).isZero();
  }

  private RouteCache.Entry add(RouteCache to, String topic) {
    return add(to, index, topic);
  }

  private static RouteCache.Entry add(RouteCache to, SubscriptionIndex index, String topic) {
    ByteBuffer in = ByteBuffer.wrap(SampleFrames.publish(topic, 1, false, "x"));
    PublishView view = SampleFrames.view(in);
    return to.add(index, in, view.topicStart(), view.topicLength(), topic);
  }

  private RouteCache.@Nullable Entry find(RouteCache in, String topic) {
    ByteBuffer buffer = ByteBuffer.wrap(SampleFrames.publish(topic, 1, false, "x"));
    PublishView view = SampleFrames.view(buffer);
    return in.find(index, buffer, view.topicStart(), view.topicLength());
  }

  @Test
  void findsWhatWasAddedAndNothingElse() {
    RouteCache.Entry ab = add(cache, "a.b");
    assertThat(find(cache, "a.b")).isSameAs(ab);
    assertThat(ab.topic()).isEqualTo("a.b");
    assertThat(find(cache, "a.c")).isNull();
    assertThat(find(cache, "a.b.c")).isNull();
    assertThat(find(cache, "a")).isNull();
  }

  @Test
  void aTopicIsFoundWhereverItLiesInTheBuffer() {
    RouteCache.Entry entry = add(cache, "somewhere.else.entirely");
    byte[] frame = SampleFrames.publish("somewhere.else.entirely", 9, true, "other payload");
    ByteBuffer direct = ByteBuffer.allocateDirect(frame.length).put(frame).flip();
    PublishView view = SampleFrames.view(direct);
    assertThat(cache.find(index, direct, view.topicStart(), view.topicLength())).isSameAs(entry);
  }

  @Test
  void fewTopicsAreAllRemembered() {
    for (int i = 0; i < 1000; i++) {
      add(cache, "topic." + i);
    }
    for (int i = 0; i < 1000; i++) {
      assertThat(find(cache, "topic." + i)).as("topic.%d", i).isNotNull();
    }
    assertThat(cache.list()).hasSize(1000);
    assertThat(index.topics()).isEqualTo(1000);
  }

  @Test
  void anyNumberOfTopicsComesByInBoundedRoom() {
    for (int i = 0; i < MANY; i++) {
      RouteCache.Entry entry = add(cache, "topic." + i);
      assertThat(find(cache, "topic." + i)).isSameAs(entry);
    }
    assertThat(cache.list()).hasSizeBetween(60_000, 1 << 17);
    assertThat(index.topics()).isEqualTo(cache.list().size());
    for (int i = 0; i < MANY; i += 7) {
      RouteCache.Entry entry = find(cache, "topic." + i);
      if (entry != null) {
        assertThat(entry.topic()).isEqualTo("topic." + i);
      }
    }
  }

  @Test
  void longTopicsTakeNoMoreRoomThanShortOnes() {
    String prefix = "x".repeat(200);
    for (int i = 0; i < MANY; i++) {
      add(cache, prefix + i);
    }
    assertThat(cache.list()).hasSizeBetween(40_000, 70_000);
    assertThat(index.routeBytes()).isLessThanOrEqualTo(BYTES);
  }

  @Test
  void aSmallLimitHolds() {
    RouteCache small = new RouteCache(index.shared(), 100_000);
    for (int i = 0; i < MANY; i++) {
      add(small, "topic." + i);
    }
    assertThat(small.list()).hasSizeBetween(100, 500);
    assertThat(index.routeBytes()).isLessThanOrEqualTo(101_000);
    small.clear();
  }

  @Test
  void aTopicThatIsForgottenLeavesItsNumberToNoOther() {
    RouteCache.Entry first = add(cache, "a");
    RouteCache.Entry second = add(cache, "b");
    cache.clear();
    assertThat(add(cache, "b").number)
        .isGreaterThan(second.number)
        .isGreaterThan(first.number)
        .isGreaterThan(1);
    assertThat(first.number).isPositive().isNotEqualTo(second.number);
  }

  @Test
  void topicsWithTheSameHashAreToldApart() {
    Map<Integer, String> byHash = new HashMap<>();
    int pairs = 0;
    for (int i = 0; i < MANY; i++) {
      String topic = "topic." + i;
      String other = byHash.put(add(cache, topic).hash, topic);
      if (other != null) {
        pairs++;
        RouteCache fresh = new RouteCache(new SubscriptionIndex(1).shared(), BYTES);
        RouteCache.Entry one = add(fresh, other);
        assertThat(find(fresh, topic)).isNull();
        RouteCache.Entry two = add(fresh, topic);
        assertThat(find(fresh, other)).isSameAs(one);
        assertThat(find(fresh, topic)).isSameAs(two);
      }
    }
    assertThat(pairs).as("pairs of topics with the same 32 bits").isPositive();
  }

  @Test
  void aTopicIsToldApartFromThatOfAnotherAccountEvenWithTheSameSalt() {
    SubscriptionIndex twin = Routes.twin(index, "twin");
    RouteCache.Entry here = add(cache, index, "t");
    RouteCache.Entry there = add(cache, twin, "t");
    ByteBuffer topic = ByteBuffer.wrap(new byte[] {'t'});
    assertThat(cache.find(index, topic, 0, 1)).isSameAs(here);
    assertThat(cache.find(twin, topic, 0, 1)).isSameAs(there);
  }

  @Test
  void topicsGoWithTheirAccount() {
    SubscriptionIndex a = index.accounts().keep("a");
    add(cache, index, "t");
    add(cache, a, "t");
    cache.sweep(0);
    index.accounts().release(a);
    for (int second = 1; second < 4; second++) {
      cache.sweep(TimeUnit.SECONDS.toNanos(second));
    }
    assertThat(cache.list()).extracting(entry -> entry.index).containsExactly(index);
  }
}
