package io.eventbus.client.internal.inbound;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Inbound topic: its name, the subscriptions it matches, and its producers. Confined to the {@link
 * Dispatcher}'s lock.
 */
final class TopicHandlers {
  private static final SubscriptionState[] NOBODY = new SubscriptionState[0];

  final String name;
  final Key key;
  final Map<Long, ProducerState> producers = new HashMap<>(2);
  SubscriptionState[] everyEvent = NOBODY;
  SubscriptionState[] inGroups = NOBODY;
  // Those of everyEvent that the bus has confirmed.
  private SubscriptionState[] served = NOBODY;
  // Version of the subscriptions that it was matched against; -1 for none yet.
  long version = -1;
  // Most topics have one producer, or events of one come in a row.
  @Nullable ProducerState latest;

  TopicHandlers(String name, Key key) {
    this.name = name;
    this.key = key;
  }

  /**
   * Matches it against the subscriptions as they are now; returns false if events may have been
   * missed meanwhile: there is no subscription that the bus had in force before and still has.
   */
  boolean match(List<SubscriptionState> subscriptions, long newVersion) {
    SubscriptionState[] servedBefore = served;
    version = newVersion;
    everyEvent = select(subscriptions, s -> !s.isExclusive());
    inGroups = select(subscriptions, SubscriptionState::isExclusive);
    served = select(List.of(everyEvent), SubscriptionState::isConfirmed);
    for (SubscriptionState before : servedBefore) {
      for (SubscriptionState now : served) {
        if (before == now) {
          return true;
        }
      }
    }
    return servedBefore.length == 0;
  }

  private SubscriptionState[] select(
      List<SubscriptionState> from, Predicate<SubscriptionState> condition) {
    return from.stream()
        .filter(s -> condition.test(s) && s.matches(name))
        .toArray(SubscriptionState[]::new);
  }

  @Nullable SubscriptionState inGroup(long id) {
    for (SubscriptionState subscription : inGroups) {
      if (subscription.id() == id) {
        return subscription;
      }
    }
    return null;
  }

  /**
   * Bytes of a topic, in an array of their own or somewhere in a message. Comparable, because
   * publishers choose topics: a table in which all of them collide stays fast.
   */
  static final class Key implements Comparable<Key> {
    private byte[] array = new byte[0];
    private int from;
    private int to;
    private int hash;

    Key point(byte[] at, int start, int length) {
      array = at;
      from = start;
      to = start + length;
      int h = 0;
      for (int i = start; i < to; i++) {
        h = 31 * h + at[i];
      }
      hash = h;
      return this;
    }

    Key copy() {
      byte[] own = Arrays.copyOfRange(array, from, to);
      return new Key().point(own, 0, own.length);
    }

    @Override
    public int compareTo(Key other) {
      return Arrays.compare(array, from, to, other.array, other.from, other.to);
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Key that
          && hash == that.hash
          && Arrays.equals(array, from, to, that.array, that.from, that.to);
    }

    @Override
    public int hashCode() {
      return hash;
    }
  }
}
