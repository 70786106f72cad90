package io.eventbus.server.view;

import java.util.Comparator;

/** Key of a subscription on a bus. */
public record SubscriptionKey(long connection, long id) implements Comparable<SubscriptionKey> {
  /** Key before every subscription. */
  public static final SubscriptionKey FIRST = new SubscriptionKey(Long.MIN_VALUE, Long.MIN_VALUE);

  private static final Comparator<SubscriptionKey> ORDER =
      Comparator.comparingLong(SubscriptionKey::connection).thenComparingLong(SubscriptionKey::id);

  @Override
  public int compareTo(SubscriptionKey other) {
    return ORDER.compare(this, other);
  }
}
