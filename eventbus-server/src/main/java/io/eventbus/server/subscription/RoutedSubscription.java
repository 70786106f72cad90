package io.eventbus.server.subscription;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.RouteTarget;
import io.eventbus.server.delivery.Subscriber;
import io.eventbus.server.memory.HeapBytes;
import org.jspecify.annotations.Nullable;

/**
 * Subscription of one connection. Immutable but for its place in the index; compared by identity.
 *
 * @see SubscriptionIndex
 */
public final class RoutedSubscription {
  /**
   * Heap of a subscription, its filter, and its places in a set of the index and its copy, in its
   * session's map, and among those that are equal to it.
   */
  private static final int HEAP_BYTES = 300;

  // Holds the subscriber and the policy: the routes of all topics share it.
  private final RouteTarget target;
  private final long id;
  private final TopicFilter filter;
  private final @Nullable String group;
  private long groupNumber = GroupNames.NONE;

  /**
   * Creates a subscription; it has no effect until it is in the index.
   *
   * @param group group that shares the events, null for none
   */
  public RoutedSubscription(
      Subscriber subscriber,
      long id,
      TopicFilter filter,
      @Nullable String group,
      Overflow overflow) {
    this.target = new RouteTarget(subscriber, overflow);
    this.id = id;
    this.filter = filter;
    this.group = group;
  }

  /** Returns who gets the events. */
  public Subscriber subscriber() {
    return target.subscriber();
  }

  /** Returns the client's own number. */
  public long id() {
    return id;
  }

  /** Returns which events it is for. */
  public TopicFilter filter() {
    return filter;
  }

  /** Returns the group that shares the events, or null for none. */
  public @Nullable String group() {
    return group;
  }

  /** Returns what happens when the queue is full. */
  public Overflow overflow() {
    return target.overflow();
  }

  /** Returns the group's number in its index; guarded by the lock of the index. */
  long groupNumber() {
    return groupNumber;
  }

  /** Notes that it is in an index now, where its group has a number. */
  void joined(long number) {
    groupNumber = number;
  }

  /** Estimates the heap of the subscription, in bytes. */
  long heapBytes() {
    long bytes = HEAP_BYTES + HeapBytes.ofString(filter.toString());
    if (!filter.isExact()) {
      bytes += HeapBytes.ofSlots(filter.tokens().size());
      for (String token : filter.tokens()) {
        bytes += HeapBytes.ofString(token);
      }
    }
    return group == null ? bytes : bytes + HeapBytes.ofString(group);
  }

  /**
   * Estimates the heap of the subscription with all that is kept because of it alone, in bytes; it
   * adds no more to {@link SubscriptionIndex#bytes}.
   */
  public long heapBytesAlone() {
    long bytes = heapBytes();
    if (filter.isExact()) {
      return bytes + SubscriptionIndex.TOPIC_HEAP_BYTES;
    }
    for (String token : filter.tokens()) {
      bytes += FilterNode.heapBytes(token);
    }
    return bytes;
  }

  /** Returns the subscriber with the policy, for a route. */
  RouteTarget target() {
    return target;
  }
}
