package io.eventbus.server.routing;

import io.eventbus.protocol.TopicFilter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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

  private final ReadWriteLock lock = new ReentrantReadWriteLock();
  private final Map<String, SubscriptionSet> exact = new HashMap<>();
  private final FilterNode root = new FilterNode();
  private final AtomicLongArray versions = new AtomicLongArray(STRIPES);
  private final AtomicLongArray firstTokenVersions = new AtomicLongArray(STRIPES);
  private final AtomicLong wildcardVersion = new AtomicLong();
  private final AtomicLong size = new AtomicLong();
  private final AtomicLong bytes = new AtomicLong();
  private final int loops;
  private volatile LocalSubscriptions local = LocalSubscriptions.NOBODY;

  /**
   * Makes an empty index.
   *
   * @param loops number of event loops
   */
  public SubscriptionIndex(int loops) {
    this.loops = loops;
  }

  /**
   * Sets who hears of the subscriptions of clients; before there are any.
   *
   * @param listener the only listener
   */
  public void onLocalChange(LocalSubscriptions listener) {
    local = listener;
  }

  /** Makes every remembered route be looked up again; for when other buses have other names. */
  public void invalidate() {
    wildcardVersion.incrementAndGet();
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
      long grown = filter.isExact() ? addExact(subscription) : root.add(subscription);
      bytes.addAndGet(grown);
      if (!(subscription.subscriber() instanceof RemoteBus)) {
        size.incrementAndGet();
        local.added(subscription);
      }
      changed(filter);
    } finally {
      lock.writeLock().unlock();
    }
  }

  /**
   * Adds a subscription of which other buses are not told.
   *
   * @param subscription not in the index yet
   */
  public void addWithdrawn(Subscription subscription) {
    lock.writeLock().lock();
    try {
      add(subscription);
      local.withdrawn(subscription);
    } finally {
      lock.writeLock().unlock();
    }
  }

  /**
   * Lets other buses know no more of a subscription, which goes on to get what comes.
   *
   * @param subscription of a client, in the index
   */
  public void withdraw(Subscription subscription) {
    lock.writeLock().lock();
    try {
      local.withdrawn(subscription);
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
      long freed = filter.isExact() ? removeExact(subscription) : root.remove(subscription);
      if (freed >= 0) {
        bytes.addAndGet(-freed);
        if (!(subscription.subscriber() instanceof RemoteBus)) {
          size.decrementAndGet();
          local.removed(subscription);
        }
        changed(filter);
      }
    } finally {
      lock.writeLock().unlock();
    }
  }

  /** Returns the bytes of what was made for it. */
  private long addExact(Subscription subscription) {
    String topic = subscription.filter().toString();
    SubscriptionSet all = exact.get(topic);
    if (all != null) {
      all.add(subscription);
      return 0;
    }
    all = new SubscriptionSet();
    all.add(subscription);
    exact.put(topic, all);
    return HeapBytes.ofTopic();
  }

  /** Returns the bytes of what went with it, -1 if it was not there. */
  private long removeExact(Subscription subscription) {
    String topic = subscription.filter().toString();
    SubscriptionSet all = exact.get(topic);
    if (all == null || !all.remove(subscription)) {
      return -1;
    }
    if (!all.isEmpty()) {
      return 0;
    }
    exact.remove(topic);
    return HeapBytes.ofTopic();
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
      List<Subscription> found = new ArrayList<>();
      SubscriptionSet named = exact.get(topic);
      if (named != null) {
        named.addTo(found);
      }
      root.match(topic, found);
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

  /**
   * Returns the number of subscriptions of clients.
   *
   * @return 0 or more
   */
  public long size() {
    return size.get();
  }

  /**
   * Counts a subscription that a session keeps, whether or not it is in the index itself.
   *
   * @param subscription not counted yet
   */
  public void keep(Subscription subscription) {
    bytes.addAndGet(HeapBytes.ofSubscription(subscription));
  }

  /**
   * No longer counts a subscription.
   *
   * @param subscription counted by {@link #keep}
   */
  public void release(Subscription subscription) {
    bytes.addAndGet(-HeapBytes.ofSubscription(subscription));
  }

  /**
   * Estimates the heap that the subscriptions of all sessions take, with all that is kept because
   * of them.
   *
   * @return bytes, 0 without subscriptions
   */
  public long bytes() {
    return bytes.get();
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
