package io.eventbus.server.routing;

import io.eventbus.protocol.TopicFilter;
import java.util.List;

/**
 * Estimates of an object's heap on a 64-bit HotSpot JVM with compressed references: they count what
 * clients make the bus keep, so that it can be bounded. A test compares the sums with the real
 * growth of the heap. Stateless; any thread.
 */
public final class HeapBytes {
  /** Node and its place in its parent's map. */
  private static final int NODE = 80;

  /** Set of a plain topic and its place in the map of topics. */
  private static final int TOPIC = 72;

  /**
   * Subscription, its filter, and its places in a set of the index and its copy, in its session's
   * map, and among those that are equal to it.
   */
  private static final int SUBSCRIPTION = 300;

  /** Route and its place among those that are remembered. */
  private static final int ROUTE = 136;

  /** Map, and one of its entries, a little more than the smallest. */
  private static final int MAP = 136;

  private static final int MAP_ENTRY = 48;

  /** Topic that a loop remembers, without its name. */
  private static final int TOPIC_ENTRY = 128;

  private static final int REFERENCE = 4;

  private HeapBytes() {}

  /** Estimates a string with its object and array, in bytes. */
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

  static long ofSubscription(RoutedSubscription subscription) {
    TopicFilter filter = subscription.filter();
    long bytes = SUBSCRIPTION + ofString(filter.toString());
    if (!filter.isExact()) {
      bytes += ofSlots(filter.tokens().size());
      for (String token : filter.tokens()) {
        bytes += ofString(token);
      }
    }
    String group = subscription.group();
    return group == null ? bytes : bytes + ofString(group);
  }

  /**
   * Estimates a subscription with all that is kept because of it alone, in bytes; it adds no more
   * to {@link SubscriptionIndex#bytes}.
   */
  public static long ofAlone(RoutedSubscription subscription) {
    TopicFilter filter = subscription.filter();
    long bytes = ofSubscription(subscription);
    if (filter.isExact()) {
      return bytes + ofTopic();
    }
    for (String token : filter.tokens()) {
      bytes += ofNode(token);
    }
    return bytes;
  }

  private static long aligned(long bytes) {
    return (bytes + 7) & ~7L;
  }

  /**
   * Estimates a route.
   *
   * @param plainMembers members of a group that are also subscribers without one
   */
  static long ofRoute(Route route, int plainMembers) {
    long bytes = ROUTE + ofArray(route.stamps.length, Long.BYTES) + ofMap(plainMembers);
    bytes += ofSlots(route.byLoop.length) + ofSlots(route.blocking.length);
    for (RouteTarget[] targets : route.byLoop) {
      bytes += targets.length == 0 ? 0 : ofSlots(targets.length);
    }
    bytes += route.groups.bytes();
    bytes += ofMap(route.remotePlain.size()) + ofMap(route.remoteGroups.size());
    for (List<RemoteBus> buses : route.remoteGroups.values()) {
      bytes += 24 + ofSlots(buses.size() + buses.size() / 2);
    }
    return bytes;
  }

  private static long ofMap(int size) {
    return size == 0 ? 0 : MAP + (long) size * MAP_ENTRY;
  }

  static long ofInts(int length) {
    return ofArray(length, Integer.BYTES);
  }

  static long ofLongs(int length) {
    return ofArray(length, Long.BYTES);
  }

  /** Estimates an array of references. */
  static long ofSlots(int length) {
    return ofArray(length, REFERENCE);
  }

  private static long ofArray(int length, int each) {
    return aligned(16 + (long) each * length);
  }

  /** Estimates a topic that a loop remembers, with its plan and without its route. */
  static int ofTopicEntry(RouteCache.Entry entry) {
    long bytes = TOPIC_ENTRY + ofString(entry.topic) + ofArray(entry.bytes.length, Byte.BYTES);
    return (int) (entry.remote == null ? bytes : bytes + entry.remote.heapBytes());
  }
}
