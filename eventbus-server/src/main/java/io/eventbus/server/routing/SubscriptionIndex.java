package io.eventbus.server.routing;

import io.eventbus.protocol.TopicFilter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * All subscriptions of a bus. Any thread may use it.
 *
 * <p>Filters without wildcards are found by hash, the others in a tree with one level for each
 * token. A lookup takes a read lock, but a loop looks a topic up only when its remembered {@link
 * Route} no longer holds: every change counts up a version, that of the topic's stripe for a plain
 * filter, that of the first token's stripe for one with wildcards further behind, a common one for
 * the others, so that a change elsewhere leaves most routes valid. A topic that nobody subscribes
 * to is nowhere in here.
 */
public final class SubscriptionIndex {
  private static final int STRIPES = 4096;

  private static final class Node {
    // Most nodes have no children or no subscriptions; the maps are small and made when needed.
    final Map<String, Node> children = new HashMap<>(2);
    final Set<Subscription> here = new LinkedHashSet<>(2);
    final Set<Subscription> tail = new LinkedHashSet<>(2);

    boolean isEmpty() {
      return children.isEmpty() && here.isEmpty() && tail.isEmpty();
    }

    int descendants() {
      int n = children.size();
      for (Node child : children.values()) {
        n += child.descendants();
      }
      return n;
    }
  }

  private final ReadWriteLock lock = new ReentrantReadWriteLock();
  private final Map<String, Set<Subscription>> exact = new HashMap<>();
  private final Node root = new Node();
  private final AtomicLongArray versions = new AtomicLongArray(STRIPES);
  private final AtomicLongArray firstTokenVersions = new AtomicLongArray(STRIPES);
  private final AtomicLong wildcardVersion = new AtomicLong();
  private final AtomicLong size = new AtomicLong();
  private final int loops;

  /**
   * Makes an empty index.
   *
   * @param loops number of event loops
   */
  public SubscriptionIndex(int loops) {
    this.loops = loops;
  }

  /**
   * Adds a subscription: every frame that is routed after the return sees it.
   *
   * @param subscription not in the index yet
   */
  public void add(Subscription subscription) {
    TopicFilter filter = subscription.filter();
    lock.writeLock().lock();
    try {
      if (filter.isExact()) {
        exact.computeIfAbsent(filter.toString(), f -> new LinkedHashSet<>(2)).add(subscription);
      } else {
        Node node = root;
        for (String token : filter.tokens()) {
          node = node.children.computeIfAbsent(token, t -> new Node());
        }
        (filter.hasTail() ? node.tail : node.here).add(subscription);
      }
      size.incrementAndGet();
      changed(filter);
    } finally {
      lock.writeLock().unlock();
    }
  }

  /**
   * Removes a subscription: no frame that is routed after the return sees it.
   *
   * @param subscription in the index or not
   */
  public void remove(Subscription subscription) {
    TopicFilter filter = subscription.filter();
    lock.writeLock().lock();
    try {
      boolean removed =
          filter.isExact()
              ? removeExact(subscription)
              : removeFrom(root, subscription, filter.tokens(), 0);
      if (removed) {
        size.decrementAndGet();
        changed(filter);
      }
    } finally {
      lock.writeLock().unlock();
    }
  }

  private boolean removeExact(Subscription subscription) {
    String topic = subscription.filter().toString();
    Set<Subscription> all = exact.get(topic);
    if (all == null || !all.remove(subscription)) {
      return false;
    }
    if (all.isEmpty()) {
      exact.remove(topic);
    }
    return true;
  }

  private static boolean removeFrom(
      Node node, Subscription subscription, List<String> tokens, int depth) {
    if (depth == tokens.size()) {
      return (subscription.filter().hasTail() ? node.tail : node.here).remove(subscription);
    }
    String token = tokens.get(depth);
    Node child = node.children.get(token);
    if (child == null || !removeFrom(child, subscription, tokens, depth + 1)) {
      return false;
    }
    if (child.isEmpty()) {
      node.children.remove(token);
    }
    return true;
  }

  private void changed(TopicFilter filter) {
    String text = filter.toString();
    if (filter.isExact()) {
      versions.incrementAndGet(stripe(text, text.length()));
    } else if (!filter.tokens().isEmpty() && !filter.tokens().get(0).equals("*")) {
      firstTokenVersions.incrementAndGet(stripe(text, filter.tokens().get(0).length()));
    } else {
      wildcardVersion.incrementAndGet();
    }
  }

  /** The stripe of the first so many characters. */
  private static int stripe(String topic, int length) {
    int h = 0;
    for (int i = 0; i < length; i++) {
      h = 31 * h + topic.charAt(i);
    }
    return (h ^ (h >>> 16)) & (STRIPES - 1);
  }

  boolean holds(Route route) {
    Route.Version version = route.version;
    return versions.get(version.stripe()) == version.exact()
        && firstTokenVersions.get(version.firstTokenStripe()) == version.firstToken()
        && wildcardVersion.get() == version.wildcard();
  }

  private Route.Version version(String topic) {
    int stripe = stripe(topic, topic.length());
    int dot = topic.indexOf('.');
    int firstTokenStripe = stripe(topic, dot < 0 ? topic.length() : dot);
    return new Route.Version(
        stripe,
        versions.get(stripe),
        firstTokenStripe,
        firstTokenVersions.get(firstTokenStripe),
        wildcardVersion.get());
  }

  /** Finds who gets the events of a legal topic. */
  Route lookup(String topic) {
    lock.readLock().lock();
    try {
      List<Subscription> found = new ArrayList<>(exact.getOrDefault(topic, Set.of()));
      if (!root.isEmpty()) {
        match(root, topic, 0, found, topic.charAt(0) == '$');
      }
      return new Route(version(topic), loops, found);
    } finally {
      lock.readLock().unlock();
    }
  }

  /**
   * Counts who gets the events of a topic.
   *
   * @param topic a legal topic
   * @return subscribers without a group, and groups
   */
  public int subscribers(String topic) {
    Route route = lookup(topic);
    return route.targetCount + route.groups.length;
  }

  private static void match(
      Node node, String topic, int start, List<Subscription> found, boolean firstIsSystem) {
    if (start > topic.length()) {
      found.addAll(node.here);
      return;
    }
    if (!firstIsSystem) {
      found.addAll(node.tail);
    }
    int dot = topic.indexOf('.', start);
    int end = dot < 0 ? topic.length() : dot;
    Node named = node.children.get(topic.substring(start, end));
    if (named != null) {
      match(named, topic, end + 1, found, false);
    }
    Node any = firstIsSystem ? null : node.children.get("*");
    if (any != null) {
      match(any, topic, end + 1, found, false);
    }
  }

  /**
   * Returns the number of subscriptions.
   *
   * @return 0 or more
   */
  public long size() {
    return size.get();
  }

  /** Topics and tree nodes that are kept because of subscriptions. */
  int footprint() {
    lock.readLock().lock();
    try {
      return exact.size() + root.descendants();
    } finally {
      lock.readLock().unlock();
    }
  }
}
