package io.eventbus.server.routing;

import io.eventbus.protocol.TopicFilter;

/**
 * About how much of the heap an object takes, on a 64-bit HotSpot JVM with compressed references:
 * what clients make the bus keep is counted with it, so that it can be bounded. A test compares the
 * sums with what the heap really grows by. Stateless; any thread.
 */
public final class HeapBytes {
  /** A node and its place in its parent's map. */
  private static final int NODE = 80;

  /** The set of a plain topic and its place in the map of topics. */
  private static final int TOPIC = 72;

  /**
   * The subscription, its filter, and its places in a set of the index, in its session's map, and
   * among those that are equal to it.
   */
  private static final int SUBSCRIPTION = 288;

  private HeapBytes() {}

  /**
   * Estimates a string.
   *
   * @param text the string
   * @return bytes, with the object and its array
   */
  public static long ofString(String text) {
    boolean latin1 = true;
    for (int i = 0; i < text.length() && latin1; i++) {
      latin1 = text.charAt(i) < 256;
    }
    return 24 + aligned(16 + (latin1 ? 1L : 2L) * text.length());
  }

  static long ofNode(String token) {
    return NODE + ofString(token);
  }

  static long ofTopic() {
    return TOPIC;
  }

  static long ofSubscription(Subscription subscription) {
    TopicFilter filter = subscription.filter();
    long bytes = SUBSCRIPTION + ofString(filter.toString());
    if (!filter.isExact()) {
      bytes += aligned(16 + 4L * filter.tokens().size());
      for (String token : filter.tokens()) {
        bytes += ofString(token);
      }
    }
    String group = subscription.group();
    return group == null ? bytes : bytes + ofString(group);
  }

  private static long aligned(long bytes) {
    return (bytes + 7) & ~7L;
  }
}
