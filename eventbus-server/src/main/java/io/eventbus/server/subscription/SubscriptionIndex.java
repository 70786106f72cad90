package io.eventbus.server.subscription;

import io.eventbus.protocol.TopicFilter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Subscriptions of one account at a bus. Any thread may use it.
 *
 * <p>Filters without wildcards are found by hash, the others in a tree with one level for each
 * token. A look-up takes a read lock, but a loop looks a topic up only when its remembered {@link
 * TopicRoute} no longer holds: every change counts up one of the {@link IndexVersions}. A topic
 * without subscribers is nowhere in here.
 *
 * <p>A change gives the set of subscriptions with its filter a stamp that no set has had. The
 * result of a look-up is known by the stamps of the sets: the {@link Route} is built once for all
 * topics with the same, and found again after a change has been undone.
 *
 * <p>Each account has one (see {@link Accounts}); what they share is in {@link BusRoutes}.
 *
 * <p>It is one class because one lock guards all of it.
 */
public final class SubscriptionIndex {
  /** Divisor of the heap for routes and the topics that loops remember. */
  private static final int ROUTE_SHARE = 16;

  /** Heap of the set of a plain topic and its place in the map of topics. */
  static final int TOPIC_HEAP_BYTES = 72;

  private static final int FEW_STRIPES = 64;

  private final ReadWriteLock lock = new ReentrantReadWriteLock();
  private final Map<String, SubscriptionSet> exact = new HashMap<>();
  private final FilterNode root = new FilterNode();
  private final Map<WildcardPattern, Integer> patterns = new HashMap<>();
  // Number of clients' subscriptions for each wildcard pattern.
  private final Map<String, Integer> wildcardGroups = new HashMap<>();
  private final GroupNames groups = new GroupNames();
  private final IndexVersions versions;
  private final AtomicLong size = new AtomicLong();
  private final Accounts accounts;
  private final BusRoutes shared;
  private final String account;
  private volatile LocalSubscriptions local = LocalSubscriptions.NOBODY;
  private volatile boolean dropped;

  private final int salt;

  /** Number of the account's connections, and of peers' subscriptions; guarded by Accounts. */
  int clients;

  int told;

  /** Creates the empty index of a bus's default account. */
  public SubscriptionIndex(int loops) {
    this(loops, Runtime.getRuntime().maxMemory() / ROUTE_SHARE);
  }

  /**
   * Creates the empty index of a bus's default account with a bound of its own, for all accounts.
   *
   * @param routeLimit bytes: half of it for routes, half for the topics that loops remember
   */
  public SubscriptionIndex(int loops, long routeLimit) {
    this.shared = new BusRoutes(loops, routeLimit);
    this.account = Accounts.DEFAULT;
    this.salt = 0;
    this.versions = new IndexVersions(IndexVersions.MAX_STRIPES);
    this.accounts = new Accounts(this, shared);
  }

  /** Creates the index of another account. */
  SubscriptionIndex(Accounts accounts, BusRoutes shared, String account, int salt) {
    this.accounts = accounts;
    this.shared = shared;
    this.account = account;
    this.salt = salt;
    // A thousand accounts have to have room.
    this.versions = new IndexVersions(FEW_STRIPES);
  }

  /** Returns all accounts of the bus, this one among them. */
  public Accounts accounts() {
    return accounts;
  }

  /** Returns the name of the account, empty for the default one. */
  public String account() {
    return account;
  }

  /** Returns the account's hash salt; 0 for the default account. */
  public int salt() {
    return salt;
  }

  /** Returns the state that the indexes of all accounts share. */
  public BusRoutes shared() {
    return shared;
  }

  void hear(LocalSubscriptions listener) {
    local = listener;
  }

  /** Drops the index: nothing is added or looked up from now on. */
  void drop() {
    dropped = true;
  }

  /** Returns whether this is its account's current index: false if it is dropped, or nobody's. */
  public boolean isPresent() {
    return accounts.find(account) == this;
  }

  /** Returns whether the account has no clients any more: with new ones it gets another index. */
  public boolean isDropped() {
    return dropped;
  }

  /** Sets the listener for the subscriptions of clients, of all accounts; before there are any. */
  public void onLocalChange(LocalSubscriptions listener) {
    accounts.onLocalChange(listener);
  }

  /** Invalidates every remembered route, when peers have other names. */
  public void invalidate() {
    versions.invalidate();
  }

  /**
   * Returns the nanoseconds for which subscriptions with a filter may not be added or removed,
   * because long routes were rebuilt too often: at most some seconds; 0 if they need not wait.
   *
   * @param nowNanos as {@link System#nanoTime}
   */
  public long waitNanos(TopicFilter filter, long nowNanos) {
    return shared.rebuilds.isSpent() && mayConcernMany(filter)
        ? shared.rebuilds.waitNanos(nowNanos)
        : 0;
  }

  /** Returns how often a change of subscriptions had to wait, in all accounts. */
  public long changesDelayed() {
    return shared.rebuilds.waits();
  }

  /** Returns whether a change makes long routes be rebuilt, or with wildcards perhaps does. */
  private boolean mayConcernMany(TopicFilter filter) {
    if (!filter.isExact()) {
      return true;
    }
    lock.readLock().lock();
    try {
      MatchResult found = new MatchResult();
      match(filter.toString(), found);
      return found.count() > RebuildBudget.MAX_SHORT;
    } finally {
      lock.readLock().unlock();
    }
  }

  /** Adds a subscription: every frame that is routed after the return sees it. */
  public void add(RoutedSubscription subscription) {
    TopicFilter filter = subscription.filter();
    lock.writeLock().lock();
    try {
      subscription.joined(groups.join(subscription.group()));
      long grown =
          filter.isExact() ? addExact(subscription) : root.add(subscription, shared.nextStamp());
      shared.subscriptionBytes.addAndGet(grown);
      if (!(subscription.subscriber() instanceof RemoteBus)) {
        size.incrementAndGet();
        countPattern(filter, 1);
        countGroup(subscription, 1);
        local.added(subscription);
      }
      versions.changed(filter);
    } finally {
      lock.writeLock().unlock();
    }
  }

  /** Adds a subscription that peers are not told of. */
  public void addWithdrawn(RoutedSubscription subscription) {
    lock.writeLock().lock();
    try {
      add(subscription);
      local.withdrawn(subscription);
    } finally {
      lock.writeLock().unlock();
    }
  }

  /** Withdraws a subscription from peers; it still gets what comes. */
  public void withdraw(RoutedSubscription subscription) {
    lock.writeLock().lock();
    try {
      local.withdrawn(subscription);
    } finally {
      lock.writeLock().unlock();
    }
  }

  /** Removes a subscription, if it is there: no frame that is routed after the return sees it. */
  public void remove(RoutedSubscription subscription) {
    TopicFilter filter = subscription.filter();
    lock.writeLock().lock();
    try {
      long freed =
          filter.isExact()
              ? removeExact(subscription)
              : root.remove(subscription, shared.nextStamp());
      if (freed >= 0) {
        groups.leave(subscription.group());
        shared.subscriptionBytes.addAndGet(-freed);
        if (!(subscription.subscriber() instanceof RemoteBus)) {
          size.decrementAndGet();
          countPattern(filter, -1);
          countGroup(subscription, -1);
          local.removed(subscription);
        }
        versions.changed(filter);
      }
    } finally {
      lock.writeLock().unlock();
    }
  }

  private void countPattern(TopicFilter filter, int by) {
    WildcardPattern pattern = WildcardPattern.of(filter);
    if (pattern != null && patterns.merge(pattern, by, Integer::sum) == 0) {
      patterns.remove(pattern);
    }
  }

  private void countGroup(RoutedSubscription subscription, int by) {
    String group = subscription.group();
    if (group == null) {
      return;
    }
    if (subscription.filter().isExact()) {
      SubscriptionSet named = exact.get(subscription.filter().toString());
      // The set has gone with the last of its subscriptions.
      if (named != null) {
        named.countGroup(group, by);
      }
    } else if (wildcardGroups.merge(group, by, Integer::sum) == 0) {
      wildcardGroups.remove(group);
    }
  }

  /** Returns the bytes of what was made for it. */
  private long addExact(RoutedSubscription subscription) {
    String topic = subscription.filter().toString();
    SubscriptionSet all = exact.get(topic);
    if (all != null) {
      all.add(subscription, shared.nextStamp());
      return 0;
    }
    all = new SubscriptionSet();
    all.add(subscription, shared.nextStamp());
    exact.put(topic, all);
    return TOPIC_HEAP_BYTES;
  }

  /** Returns the bytes of what went with it, -1 if it was not there. */
  private long removeExact(RoutedSubscription subscription) {
    String topic = subscription.filter().toString();
    SubscriptionSet all = exact.get(topic);
    if (all == null || !all.remove(subscription, shared.nextStamp())) {
      return -1;
    }
    if (!all.isEmpty()) {
      return 0;
    }
    exact.remove(topic);
    return TOPIC_HEAP_BYTES;
  }

  /** Returns the stripe of changes that concern topics with these first characters. */
  int stripe(String topic, int length) {
    return IndexVersions.stripe(topic, length) & versions.mask;
  }

  /** Returns whether a topic's route is what a look-up would find; cheap. */
  public boolean isCurrent(TopicRoute of) {
    return versions.isCurrent(of);
  }

  /**
   * Looks up the subscribers of a topic. If there is no room to remember its route, that is not
   * {@link Route#isShared shared}: then it should be forgotten soon, or shared once there is room.
   */
  public void refresh(TopicRoute of, MatchResult found) {
    lock.readLock().lock();
    try {
      match(of.topic, found);
      if (!found.are(of.route.stamps)) {
        Route now = route(found, of.wildcard != TopicRoute.UNKNOWN);
        shared.routes.release(of.route);
        of.route = now;
      }
      versions.note(of);
    } finally {
      lock.readLock().unlock();
      found.clear();
    }
  }

  private void match(String topic, MatchResult found) {
    found.begin(topic);
    SubscriptionSet named = exact.get(topic);
    if (named != null) {
      found.add(named);
    }
    root.match(found);
  }

  /** Finds or makes the route; again, if what was known of it does not hold any more. */
  private Route route(MatchResult found, boolean again) {
    if (found.isEmpty()) {
      return nobody();
    }
    long[] stamps = found.stamps();
    Route known = shared.routes.acquire(stamps);
    if (known != null) {
      return known;
    }
    Route made = new Route(shared.loops, stamps, found.subscriptions());
    found.made();
    if (again) {
      shared.rebuilds.spend(found.count());
    }
    return shared.routes.share(made);
  }

  /** Tries again to have a topic's route remembered. */
  public void share(TopicRoute of) {
    if (!of.route.isShared()) {
      of.route = shared.routes.share(of.route);
    }
  }

  /** Releases a topic's route; the next look at it finds that it no longer holds. */
  public void forget(TopicRoute of) {
    shared.routes.release(of.route);
    of.route = nobody();
    of.wildcard = TopicRoute.UNKNOWN;
  }

  /** Returns the position of a named group in a route; -1 if it has no member there. */
  public int group(Route route, String name) {
    return route.groups().find(groups.number(name));
  }

  /** Returns the route of a topic without subscribers. */
  Route nobody() {
    return shared.nobody;
  }

  /** Returns the number of remembered routes. */
  public int routeCount() {
    return shared.routes.size();
  }

  /** Returns the bytes that one loop's topics may take, without their routes. */
  public long topicLimit() {
    return shared.limit / 2 / shared.loops;
  }

  /**
   * Estimates the heap for the topics that loops remember and their routes, for all accounts, in
   * bytes: about a sixteenth of the JVM's heap at most.
   */
  public long routeBytes() {
    return shared.routes.bytes() + shared.topicBytes.sum();
  }

  /**
   * Returns the number of topics that the loops remember, of all accounts; a topic that is
   * published on several loops counts for each of them.
   */
  public long topics() {
    return shared.topicCount.sum();
  }

  /** Counts who gets the events of a topic. */
  public int subscribers(String topic) {
    return subscribers(List.of(topic))[0];
  }

  /**
   * Returns the number of subscribers of each of some topics. Those that the same filters match are
   * counted once, and no route is built.
   */
  public int[] subscribers(List<String> topics) {
    // By the stamps of the sets.
    Map<RouteTable.Key, Integer> known = new HashMap<>();
    int[] counts = new int[topics.size()];
    MatchResult found = new MatchResult();
    for (int i = 0; i < counts.length; i++) {
      lock.readLock().lock();
      try {
        match(topics.get(i), found);
        counts[i] =
            known.computeIfAbsent(new RouteTable.Key(found.stamps()), k -> found.receivers());
      } finally {
        lock.readLock().unlock();
      }
    }
    return counts;
  }

  /**
   * Returns whether anything subscribes to a topic, here or at a known peer; if not, an event of
   * that topic would go nowhere.
   */
  public boolean isWanted(String topic) {
    MatchResult found = new MatchResult();
    lock.readLock().lock();
    try {
      match(topic, found);
      return !found.isEmpty();
    } finally {
      lock.readLock().unlock();
    }
  }

  /** Returns the number of subscriptions of the account's clients. */
  public long size() {
    return size.get();
  }

  /**
   * Returns the number of different wildcard patterns among the filters of clients. Those of peers
   * do not count: each bus bounds its own.
   */
  public int patterns() {
    lock.readLock().lock();
    try {
      return patterns.size();
    } finally {
      lock.readLock().unlock();
    }
  }

  /**
   * Returns whether a filter of a client has a pattern, so that the pattern adds nothing to {@link
   * #patterns}.
   */
  public boolean hasPattern(WildcardPattern pattern) {
    lock.readLock().lock();
    try {
      return patterns.containsKey(pattern);
    } finally {
      lock.readLock().unlock();
    }
  }

  /**
   * Returns the number of groups of clients that share a limit with another, without that one: for
   * a filter without wildcards those of its topic, else all that have wildcards; 0 if it is there
   * already.
   */
  public int otherGroups(TopicFilter filter, String group) {
    lock.readLock().lock();
    try {
      if (!filter.isExact()) {
        return wildcardGroups.containsKey(group) ? 0 : wildcardGroups.size();
      }
      SubscriptionSet named = exact.get(filter.toString());
      return named == null ? 0 : named.otherGroups(group);
    } finally {
      lock.readLock().unlock();
    }
  }

  /**
   * Counts a subscription that a session keeps, whether or not it is in the index itself.
   *
   * @param subscription not counted yet
   */
  public void keep(RoutedSubscription subscription) {
    shared.subscriptionBytes.addAndGet(subscription.heapBytes());
  }

  /** Stops counting a subscription. */
  public void release(RoutedSubscription subscription) {
    shared.subscriptionBytes.addAndGet(-subscription.heapBytes());
  }

  /**
   * Estimates the heap for the subscriptions of all sessions of all accounts, with all that is kept
   * because of them, in bytes.
   */
  public long bytes() {
    return shared.subscriptionBytes.get();
  }

  /** Returns the number of topics and tree nodes that are kept because of subscriptions. */
  int footprint() {
    lock.readLock().lock();
    try {
      return exact.size() + root.descendants();
    } finally {
      lock.readLock().unlock();
    }
  }
}
