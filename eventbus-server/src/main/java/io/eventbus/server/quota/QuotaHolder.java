package io.eventbus.server.quota;

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
 * The clients of one identity or of one account, what they may use together, and what they do. Any
 * thread; what changes the number of connections holds the lock of {@link QuotaAccounts}.
 */
final class QuotaHolder {
  /** What each queue may hold at least, however many there are. */
  static final long MIN_QUEUE_BYTES = 64 * 1024;

  private final Key key;
  private final long number;
  private volatile Quotas limits = Quotas.NONE;
  private volatile long mostSubscriptions;
  private volatile long mostQueueBytes;
  private volatile long mostCalls;
  private final TokenBucket events;
  private final TokenBucket bytes;
  private final TokenBucket requests;
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicLong subscriptions = new AtomicLong();
  private final AtomicLong queueBytes = new AtomicLong();
  private final AtomicLong calls = new AtomicLong();
  // Guarded by itself: what has met a limit is no longer in a hurry.
  private final Map<Quota, Reached> reached = new EnumMap<>(Quota.class);

  /** How often a limit was met. */
  private static final class Reached {
    private long count;
    private long told;
    private long toldAt;
  }

  /** Whether it is among those that are looked at later; guarded as the connections are. */
  boolean lingers;

  /**
   * Whose they are.
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

    /** For people. */
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

  /** Rises in the order in which they came. */
  long number() {
    return number;
  }

  Quotas limits() {
    return limits;
  }

  /** What was said last holds for all of them. */
  void limit(Quotas quotas) {
    if (limits.equals(quotas)) {
      return;
    }
    limits = quotas;
    mostSubscriptions = quotas.limit(Quota.SUBSCRIPTIONS);
    mostQueueBytes = quotas.limit(Quota.QUEUE_BYTES);
    mostCalls = quotas.limit(Quota.CALLS);
    events.limit(quotas.limit(Quota.PUBLISH_EVENTS));
    bytes.limit(quotas.limit(Quota.PUBLISH_BYTES));
    requests.limit(quotas.limit(Quota.REQUESTS));
  }

  int connections() {
    return connections.get();
  }

  /** Whether there may be one more, or its equal in place of one that goes. */
  boolean mayConnect(boolean replaces) {
    long most = limits.limit(Quota.CONNECTIONS);
    return most == 0 || connections.get() < most + (replaces ? 1 : 0);
  }

  void connected() {
    connections.incrementAndGet();
  }

  void disconnected() {
    connections.decrementAndGet();
  }

  /** Nothing is left that a client that comes back would have to be held against. */
  boolean isForgettable(long nowNanos) {
    return connections.get() == 0
        && events.isFull(nowNanos)
        && bytes.isFull(nowNanos)
        && requests.isFull(nowNanos);
  }

  /** The quota that is used up for publishing, for the longest time; null for none. */
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

  /** How long nothing may be sent; 0 where something may. */
  long sendWaitNanos(long nowNanos) {
    return bytes.waitNanos(nowNanos);
  }

  void sent(long byteCount, long nowNanos) {
    bytes.take(byteCount, nowNanos);
  }

  /** Takes room for a subscription; returns false if there is none, and takes nothing. */
  boolean takeSubscription() {
    long most = mostSubscriptions;
    if (subscriptions.incrementAndGet() > most && most != 0) {
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

  /** How long no request may be made; 0 where one may. */
  long requestWaitNanos(long nowNanos) {
    return requests.waitNanos(nowNanos);
  }

  void requested(long nowNanos) {
    requests.take(1, nowNanos);
  }

  /** Takes room for a call; returns false if there is none, and takes nothing. */
  boolean takeCall() {
    return takeCalls(1);
  }

  boolean takeCalls(int count) {
    long most = mostCalls;
    if (calls.addAndGet(count) > most && most != 0) {
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

  /** What one queue may hold that may otherwise hold so much. */
  long queueBound(long own) {
    long most = mostQueueBytes;
    return most == 0 || queueBytes.get() <= most
        ? own
        : Math.min(own, Math.max(MIN_QUEUE_BYTES, most / Math.max(1, connections.get())));
  }

  /** How often a limit was met. */
  long reached(Quota quota) {
    synchronized (reached) {
      Reached known = reached.get(quota);
      return known == null ? 0 : known.count;
    }
  }

  /**
   * Counts that a limit was met.
   *
   * @return how often since it was told last, if it is to be told now; else 0
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
