package io.eventbus.server.quota;

import io.eventbus.base.PrintableText;
import io.eventbus.base.RateLimitedLog;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.config.Quota;
import io.eventbus.server.config.Quotas;
import io.eventbus.server.security.Principal;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Identities and accounts of a bus with quotas. Any thread; the lock is acquired when a client
 * comes or goes, never for what it sends.
 *
 * <p>They are known while they have a connection, and beyond that until what they have published is
 * paid, so that reconnecting wins nothing; of these at most {@value #MAX_LINGERING}.
 */
public final class QuotaAccounts {
  static final int MAX_LINGERING = 65_536;

  /** Number of lingering entries that each new client checks: more than it can add. */
  private static final int LOOKS = 8;

  private static final int MAX_SHOWN = 300;
  private static final Duration TELL_AGAIN = Duration.ofMinutes(1);

  private final Advisories advisories;
  private final LongSupplier nanoTime;
  private final RateLimitedLog log;
  private final Map<QuotaHolder.Key, QuotaHolder> byKey = new HashMap<>();
  private final NavigableMap<Long, QuotaHolder> byNumber = new TreeMap<>();
  private final Deque<QuotaHolder> lingering = new ArrayDeque<>();
  private final Map<String, LongAdder> waits = counters();
  private final Map<String, LongAdder> refusals = counters();
  private long lastNumber;

  /**
   * Creates an empty table.
   *
   * @param nanoTime as {@link System#nanoTime}
   */
  public QuotaAccounts(Advisories advisories, LongSupplier nanoTime) {
    this.advisories = advisories;
    this.nanoTime = nanoTime;
    this.log =
        new RateLimitedLog(LoggerFactory.getLogger(QuotaAccounts.class), nanoTime, TELL_AGAIN);
  }

  private static Map<String, LongAdder> counters() {
    Map<String, LongAdder> counters = new HashMap<>();
    Quota.all(false).forEach(quota -> counters.put(label(quota, false), new LongAdder()));
    Quota.all(true).forEach(quota -> counters.put(label(quota, true), new LongAdder()));
    return Collections.unmodifiableMap(counters);
  }

  private static String label(Quota quota, boolean ofAccount) {
    return (ofAccount ? "account_" : "") + quota.key().replace('-', '_');
  }

  /** Result for a client that wants to connect. */
  public sealed interface Entry {
    /**
     * The client may connect.
     *
     * @param share its quotas; null for none
     */
    record Open(@Nullable ConnectionQuota share) implements Entry {}

    /** The quota of connections is used up. */
    record Full(String message) implements Entry {}
  }

  /**
   * Enters a client, if it may connect.
   *
   * @return its share, or why not
   */
  public Entry enter(Principal who, boolean replaces) {
    if (who.quotas().areNone()) {
      return new Entry.Open(null);
    }
    QuotaHolder full;
    synchronized (this) {
      ConnectionQuota share = share(who);
      full = full(share, replaces);
      if (full == null) {
        return new Entry.Open(count(share));
      }
      forget(share.identity());
      forget(share.account());
    }
    return new Entry.Full(
        refuse(
            full,
            Quota.CONNECTIONS,
            "have " + full.connections() + " connections to this bus",
            "close those that are not needed"));
  }

  /**
   * Enters a client that is connected already, and had no quotas until now; also if there are more
   * connections than there may be.
   */
  public synchronized ConnectionQuota join(Principal who) {
    return count(share(who));
  }

  private ConnectionQuota share(Principal who) {
    long now = nanoTime();
    lookAtLingering(now);
    ConnectionQuota share =
        new ConnectionQuota(
            this,
            find(QuotaHolder.Key.ofIdentity(who), now),
            find(QuotaHolder.Key.ofAccount(who.account()), now));
    share.renew(who.quotas());
    return share;
  }

  private QuotaHolder find(QuotaHolder.Key key, long now) {
    QuotaHolder known = byKey.get(key);
    if (known == null) {
      known = new QuotaHolder(key, ++lastNumber, now);
      byKey.put(key, known);
      byNumber.put(known.number(), known);
    }
    return known;
  }

  private static @Nullable QuotaHolder full(ConnectionQuota share, boolean replaces) {
    if (!share.identity().mayConnect(replaces)) {
      return share.identity();
    }
    return share.account().mayConnect(replaces) ? null : share.account();
  }

  private static ConnectionQuota count(ConnectionQuota share) {
    share.identity().connected();
    share.account().connected();
    return share;
  }

  /** Leaves with a connection that has ended. */
  synchronized void left(ConnectionQuota share) {
    share.identity().disconnected();
    share.account().disconnected();
    forget(share.identity());
    forget(share.account());
  }

  /** Forgets holders without a connection, now or as soon as that is possible. */
  private void forget(QuotaHolder sharers) {
    if (sharers.connections() > 0 || sharers.lingers) {
      return;
    }
    if (sharers.isForgettable(nanoTime())) {
      remove(sharers);
    } else {
      sharers.lingers = true;
      lingering.add(sharers);
    }
  }

  private void lookAtLingering(long now) {
    for (int i = 0; i < LOOKS; i++) {
      boolean tooMany = lingering.size() > MAX_LINGERING;
      QuotaHolder oldest = lingering.poll();
      if (oldest == null) {
        return;
      }
      oldest.lingers = false;
      if (oldest.connections() > 0) {
        continue;
      }
      if (tooMany || oldest.isForgettable(now)) {
        remove(oldest);
      } else {
        oldest.lingers = true;
        lingering.add(oldest);
      }
    }
  }

  private void remove(QuotaHolder sharers) {
    byKey.remove(sharers.key());
    byNumber.remove(sharers.number());
  }

  long nanoTime() {
    return nanoTime.getAsLong();
  }

  /** Notes that clients have to wait, or may queue less. */
  void waits(QuotaHolder sharers, Quota quota, long nowNanos) {
    count(waits, sharers, quota, nowNanos);
  }

  /** Notes that something is refused. */
  String refuse(QuotaHolder sharers, Quota quota, String used, String advice) {
    count(refusals, sharers, quota, nanoTime());
    return refusal(sharers, quota, used, advice);
  }

  /**
   * Returns a refusal for an account, with or without clients here: each call of it is one more,
   * and returns the message.
   *
   * @param account empty for the clients that have none
   * @param used what is used, for people
   * @param advice what its clients can do
   */
  public Supplier<String> refusal(
      String account, Quota quota, long limit, String used, String advice) {
    QuotaHolder.Key key = QuotaHolder.Key.ofAccount(account);
    QuotaHolder holder;
    synchronized (this) {
      QuotaHolder known = byKey.get(key);
      holder = known == null ? new QuotaHolder(key, 0, nanoTime()) : known;
    }
    if (holder.limits().limit(quota) != limit) {
      // Those of its clients are as old as they are.
      holder.limit(new Quotas(Map.of(quota, limit)).over(holder.limits()));
    }
    String message = refusal(holder, quota, used, advice);
    return () -> {
      count(refusals, holder, quota, nanoTime());
      return message;
    };
  }

  private static String refusal(QuotaHolder sharers, Quota quota, String used, String advice) {
    return sharers.key()
        + " "
        + used
        + " (expected: at most "
        + sharers.limits().limit(quota)
        + ", quota "
        + (sharers.key().subject() == null ? "of the account: " : "")
        + quota.key()
        + "); "
        + advice
        + ", or ask whoever runs the bus for more";
  }

  private void count(Map<String, LongAdder> counters, QuotaHolder sharers, Quota quota, long now) {
    String label = label(quota, sharers.key().subject() == null);
    LongAdder counter = counters.get(label);
    if (counter != null) {
      counter.increment();
    }
    long count = sharers.count(quota, now, TELL_AGAIN.toNanos());
    if (count > 0) {
      tell(sharers, quota, count);
    }
  }

  private void tell(QuotaHolder sharers, Quota quota, long count) {
    QuotaHolder.Key key = sharers.key();
    long limit = sharers.limits().limit(quota);
    advisories.tell(
        new Advisory.QuotaReached(
            key.account(), key.subject(), key.anonymous(), quota.key(), limit, count));
    log.warn(
        key + " " + quota,
        "{} are at their quota {}, {}{}",
        PrintableText.of(key.toString(), MAX_SHOWN),
        quota.key(),
        limit);
  }

  /** Returns how often clients had to wait because a quota was used up. */
  public Map<String, Long> waits() {
    return sums(waits);
  }

  /** Returns how often something was refused because a quota was used up. */
  public Map<String, Long> refusals() {
    return sums(refusals);
  }

  private static Map<String, Long> sums(Map<String, LongAdder> counters) {
    Map<String, Long> sums = new HashMap<>();
    counters.forEach((label, counter) -> sums.put(label, counter.sum()));
    return sums;
  }

  /**
   * Returns copies of identities and accounts in the order of their numbers; fewer than {@code
   * limit} only if there are no more.
   *
   * @param after only those with a greater number
   */
  public synchronized List<QuotaUse> list(long after, int limit) {
    return byNumber.tailMap(after, false).values().stream()
        .limit(limit)
        .map(QuotaAccounts::use)
        .toList();
  }

  /**
   * Returns a copy of an identity or an account.
   *
   * @param account empty for the clients that have none
   * @param subject a name in the account, empty for the clients without one; null for all clients
   *     of the account
   * @return none if there is no client with a quota; two if some of the clients without a name are
   *     anonymous
   */
  public synchronized List<QuotaUse> find(String account, @Nullable String subject) {
    return Stream.of(false, true)
        .map(anonymous -> byKey.get(new QuotaHolder.Key(account, subject, anonymous)))
        .filter(Objects::nonNull)
        .map(QuotaAccounts::use)
        .toList();
  }

  private static QuotaUse use(QuotaHolder sharers) {
    Map<Quota, Long> reached = new EnumMap<>(Quota.class);
    for (Quota quota : Quota.values()) {
      reached.put(quota, sharers.reached(quota));
    }
    return new QuotaUse(
        sharers.number(),
        sharers.key().account(),
        sharers.key().subject(),
        sharers.key().anonymous(),
        sharers.limits(),
        sharers.connections(),
        sharers.subscriptions(),
        sharers.queueBytes(),
        sharers.calls(),
        reached);
  }
}
