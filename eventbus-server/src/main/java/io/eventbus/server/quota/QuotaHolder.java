package io.eventbus.server.quota;

import io.eventbus.base.TokenBucket;
import io.eventbus.server.config.Quota;
import io.eventbus.server.config.Quotas;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Principal;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Clients of one identity or of one account: what they may use together, and what they use. Any
 * thread; the lock of {@link QuotaAccounts} guards changes of the number of connections.
 */
final class QuotaHolder {
  /** Minimum that each queue may hold, however many there are. */
  static final long MIN_QUEUE_BYTES = 64 * 1024;

  private final Key key;
  private final long number;
  private volatile Quotas limits = Quotas.NONE;
  private volatile long maxSubscriptions;
  private volatile long maxQueueBytes;
  private volatile long maxCalls;
  private final TokenBucket events;
  private final TokenBucket bytes;
  private final TokenBucket requests;
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicLong subscriptions = new AtomicLong();
  private final AtomicLong queueBytes = new AtomicLong();
  private final AtomicLong calls = new AtomicLong();
  // Guarded by itself: what has met a limit is no longer in a hurry.
  private final Map<Quota, Reached> reached = new EnumMap<>(Quota.class);

  /** Number of times that a limit was reached. */
  private static final class Reached {
    private long count;
    private long told;
    private long toldAt;
  }

  /** Set if it is among the lingering ones; guarded as the connections are. */
  boolean lingers;

  /**
   * Owner of the quotas.
   *
   * @param account empty for the clients that have none
   * @param subject null for all clients of the account; empty for those of it without a name
   */
  record Key(String account, @Nullable String subject, boolean anonymous)
      implements Comparable<Key> {
    private static final Comparator<Key> ORDER =
        Comparator.comparing(Key::account)
            .thenComparing(Key::subject, Comparator.nullsFirst(Comparator.<String>naturalOrder()))
            .thenComparing(Key::anonymous);

    @Override
    public int compareTo(Key other) {
      return ORDER.compare(this, other);
    }

    static Key ofAccount(String account) {
      return new Key(account, null, false);
    }

    static Key ofIdentity(Principal who) {
      return new Key(who.account(), who.subject(), who.method() == AuthenticationMethod.NONE);
    }

    /** Returns a text for people. */
    @Override
    public String toString() {
      if (anonymous) {
        return "all anonymous clients";
      }
      String ofAccount = account.isEmpty() ? "without an account" : "of account '" + account + "'";
      if (subject == null) {
        return "the clients " + ofAccount;
      }
      return subject.isEmpty()
          ? "the clients without a name " + ofAccount
          : "the clients of '" + subject + "' " + ofAccount;
    }
  }

  QuotaHolder(Key key, long number, long nowNanos) {
    this.key = key;
    this.number = number;
    this.events = new TokenBucket(nowNanos);
    this.bytes = new TokenBucket(nowNanos);
    this.requests = new TokenBucket(nowNanos);
  }

  Key key() {
    return key;
  }

  /** Returns its number, which rises in the order in which they came. */
  long number() {
    return number;
  }

  Quotas limits() {
    return limits;
  }

  /** Sets the limits; the latest hold for all. */
  void limit(Quotas quotas) {
    if (limits.equals(quotas)) {
      return;
    }
    limits = quotas;
    maxSubscriptions = quotas.limit(Quota.SUBSCRIPTIONS);
    maxQueueBytes = quotas.limit(Quota.QUEUE_BYTES);
    maxCalls = quotas.limit(Quota.CALLS);
    events.limit(quotas.limit(Quota.PUBLISH_EVENTS));
    bytes.limit(quotas.limit(Quota.PUBLISH_BYTES));
    requests.limit(quotas.limit(Quota.REQUESTS));
  }

  int connections() {
    return connections.get();
  }

  /** Returns whether a further connection is allowed, or its equal in place of one that goes. */
  boolean mayConnect(boolean replaces) {
    long max = limits.limit(Quota.CONNECTIONS);
    return max == 0 || connections.get() < max + (replaces ? 1 : 0);
  }

  void connected() {
    connections.incrementAndGet();
  }

  void disconnected() {
    connections.decrementAndGet();
  }

  /** Returns whether nothing is left that would have to be charged to a returning client. */
  boolean isForgettable(long nowNanos) {
    return connections.get() == 0
        && events.isFull(nowNanos)
        && bytes.isFull(nowNanos)
        && requests.isFull(nowNanos);
  }

  /** Returns the quota for publishing that is used up for the longest time; null for none. */
  @Nullable Quota publishLacks(long nowNanos) {
    long forEvents = events.waitNanos(nowNanos);
    long forBytes = bytes.waitNanos(nowNanos);
    if (forEvents == 0 && forBytes == 0) {
      return null;
    }
    return forEvents >= forBytes ? Quota.PUBLISH_EVENTS : Quota.PUBLISH_BYTES;
  }

  long publishWaitNanos(long nowNanos) {
    return Math.max(events.waitNanos(nowNanos), bytes.waitNanos(nowNanos));
  }

  void published(int eventCount, long byteCount, long nowNanos) {
    events.take(eventCount, nowNanos);
    bytes.take(byteCount, nowNanos);
  }

  /** Returns how long nothing may be sent; 0 if something may. */
  long sendWaitNanos(long nowNanos) {
    return bytes.waitNanos(nowNanos);
  }

  void sent(long byteCount, long nowNanos) {
    bytes.take(byteCount, nowNanos);
  }

  /** Acquires room for a subscription; returns false, and acquires nothing, if there is none. */
  boolean acquireSubscription() {
    long max = maxSubscriptions;
    if (subscriptions.incrementAndGet() > max && max != 0) {
      subscriptions.decrementAndGet();
      return false;
    }
    return true;
  }

  void changeSubscriptions(int change) {
    subscriptions.addAndGet(change);
  }

  long subscriptions() {
    return subscriptions.get();
  }

  /** Returns how long no request may be made; 0 if one may. */
  long requestWaitNanos(long nowNanos) {
    return requests.waitNanos(nowNanos);
  }

  void requested(long nowNanos) {
    requests.take(1, nowNanos);
  }

  /** Acquires room for a call; returns false, and acquires nothing, if there is none. */
  boolean acquireCall() {
    return acquireCalls(1);
  }

  boolean acquireCalls(int count) {
    long max = maxCalls;
    if (calls.addAndGet(count) > max && max != 0) {
      calls.addAndGet(-count);
      return false;
    }
    return true;
  }

  void changeCalls(long change) {
    calls.addAndGet(change);
  }

  long calls() {
    return calls.get();
  }

  void changeQueueBytes(long change) {
    queueBytes.addAndGet(change);
  }

  long queueBytes() {
    return queueBytes.get();
  }

  /** Returns what one queue may hold, given its own bound. */
  long queueBound(long own) {
    long max = maxQueueBytes;
    return max == 0 || queueBytes.get() <= max
        ? own
        : Math.min(own, Math.max(MIN_QUEUE_BYTES, max / Math.max(1, connections.get())));
  }

  /** Returns how often a limit was reached. */
  long reached(Quota quota) {
    synchronized (reached) {
      Reached known = reached.get(quota);
      return known == null ? 0 : known.count;
    }
  }

  /**
   * Counts a reached limit.
   *
   * @return how often since the last report, if another is due now; else 0
   */
  long count(Quota quota, long nowNanos, long intervalNanos) {
    synchronized (reached) {
      Reached known = reached.computeIfAbsent(quota, q -> new Reached());
      known.count++;
      if (known.told > 0 && nowNanos - known.toldAt < intervalNanos) {
        return 0;
      }
      long untold = known.count - known.told;
      known.told = known.count;
      known.toldAt = nowNanos;
      return untold;
    }
  }
}
