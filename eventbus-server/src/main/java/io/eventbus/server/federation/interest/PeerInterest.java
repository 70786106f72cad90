package io.eventbus.server.federation.interest;

import io.eventbus.protocol.ServiceName;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.federation.schema.AccountEntry;
import io.eventbus.server.federation.schema.Interest;
import io.eventbus.server.federation.schema.InterestEntry;
import io.eventbus.server.subscription.Accounts;
import io.eventbus.server.subscription.RemoteBus;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.subscription.SubscriptionIndex;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Interest of a peer's clients, kept in the index, where its entries stand for that peer. Confined
 * to the first loop.
 */
final class PeerInterest {
  private static final Logger LOG = LoggerFactory.getLogger(PeerInterest.class);

  /** Result of applying a frame. */
  enum Outcome {
    /** Further frames are needed. */
    INCOMPLETE,
    /** Applied from now on. */
    APPLIED,
    /** Inconsistent with earlier frames: the whole is needed. */
    MISMATCH
  }

  /** Listener for services. */
  @FunctionalInterface
  interface Services {
    void serves(String account, String service, boolean serves);
  }

  /** Entry that is kept. */
  private interface Entry {
    int overflow();

    void begin();

    /**
     * Ends the entry.
     *
     * @param replaced whether another entry with its key takes its place
     */
    void end(boolean replaced);

    /** Releases its memory, after its end or before its start. */
    void release();
  }

  /** Subscribers at the peer, represented in the index. */
  private record OfSubscribers(
      SubscriptionIndex index, RoutedSubscription subscription, int overflow) implements Entry {
    @Override
    public void begin() {
      index.add(subscription);
    }

    @Override
    public void end(boolean replaced) {
      index.remove(subscription);
    }

    @Override
    public void release() {
      index.accounts().release(index);
    }
  }

  /** Members of a service. */
  private record OfMembers(Services services, String account, String service, int overflow)
      implements Entry {
    @Override
    public void begin() {
      announce(true);
    }

    @Override
    public void end(boolean replaced) {
      if (!replaced) {
        announce(false);
      }
    }

    private void announce(boolean serves) {
      if (ServiceName.problem(service) == null) {
        services.serves(account, service, serves);
      }
    }

    @Override
    public void release() {}
  }

  private final RemoteBus bus;
  private final Accounts accounts;
  private final Services services;
  // The peer enforces the limit, except for filters that exceed it at the same time on several
  // loops, and while the whole replaces earlier entries.
  private final int maxEntries;
  private final Map<LocalInterest.Key, Entry> entries = new HashMap<>();
  private Set<LocalInterest.Key> stale = new HashSet<>();
  private boolean replacing;
  private long digest;
  private long accountDigest;
  private int ignored;
  private boolean suspended;
  private boolean known;

  /**
   * Creates the empty interest of a peer.
   *
   * @param services called for each service that the peer starts or ceases to serve
   */
  PeerInterest(RemoteBus bus, Accounts accounts, int limit, Services services) {
    this.bus = bus;
    this.accounts = accounts;
    this.services = services;
    this.maxEntries = (int) Math.min(Integer.MAX_VALUE, 2L * limit);
  }

  /** Returns whether the whole has arrived once. */
  boolean isKnown() {
    return known;
  }

  int size() {
    return entries.size();
  }

  Outcome take(Interest interest) {
    if (interest.getWhole()) {
      replacing = true;
      stale = new HashSet<>(entries.keySet());
      ignored = 0;
    } else if (!known && !replacing) {
      return Outcome.MISMATCH;
    }
    // Removals first, to make room.
    set(interest, true);
    set(interest, false);
    if (interest.getMore()) {
      return Outcome.INCOMPLETE;
    }
    if (replacing) {
      stale.forEach(key -> set(key, -1));
      stale = new HashSet<>();
      replacing = false;
      known = true;
    }
    // Asking for the whole again helps only if there is room for it now.
    boolean tooMany = ignored > 0 && entries.size() + ignored > maxEntries;
    boolean addsUp = digest == interest.getDigest() && accountDigest == interest.getAccountDigest();
    return tooMany || addsUp ? Outcome.APPLIED : Outcome.MISMATCH;
  }

  private void set(Interest interest, boolean removals) {
    for (InterestEntry entry : interest.getEntries()) {
      if (entry.getOverflow() < 0 == removals) {
        told(
            new LocalInterest.Key(Accounts.DEFAULT, entry.getFilter(), entry.getGroup()),
            entry.getOverflow());
      }
    }
    for (AccountEntry entry : interest.getAccountEntries()) {
      if (entry.getOverflow() < 0 == removals) {
        told(
            new LocalInterest.Key(entry.getAccount(), entry.getFilter(), entry.getGroup()),
            entry.getOverflow());
      }
    }
  }

  private void told(LocalInterest.Key key, int overflow) {
    stale.remove(key);
    set(key, overflow);
  }

  private void addToDigest(LocalInterest.Key key, long hash) {
    if (key.isOfDefaultAccount()) {
      digest += hash;
    } else {
      accountDigest += hash;
    }
  }

  private void set(LocalInterest.Key key, int overflow) {
    Entry before = entries.get(key);
    int policyBefore = before == null ? PolicyCode.NONE : before.overflow();
    if (overflow == policyBefore) {
      return;
    }
    if (overflow < 0) {
      entries.remove(key);
    } else {
      String problem = TopicFilter.problem(key.filter());
      if (problem != null) {
        throw new IllegalArgumentException(problem);
      }
      if (before == null && entries.size() >= maxEntries) {
        ignore();
        return;
      }
      Entry now = entry(key, overflow);
      entries.put(key, now);
      addToDigest(key, key.hash(overflow));
      if (!suspended) {
        now.begin();
      }
    }
    if (before != null) {
      addToDigest(key, -key.hash(policyBefore));
      // After the new entry is added, so that every event finds one of the two.
      if (!suspended) {
        before.end(overflow >= 0);
      }
      before.release();
    }
  }

  private Entry entry(LocalInterest.Key key, int overflow) {
    String service = ServiceEntry.service(key);
    return service == null
        ? new OfSubscribers(
            accounts.keep(key.account()),
            new RoutedSubscription(
                bus,
                0,
                TopicFilter.parse(key.filter()),
                key.group(),
                PolicyCode.overflow(overflow)),
            overflow)
        : new OfMembers(services, key.account(), service, overflow);
  }

  private void ignore() {
    if (ignored++ == 0) {
      LOG.error(
          "{} has announced more than {} filters, twice its limit (federation.filters,"
              + " expected: the same at all buses); it does not get the events of the others",
          bus,
          maxEntries);
    }
  }

  /** Suspends routing to the peer until it is heard of again. */
  void suspend() {
    if (!suspended) {
      suspended = true;
      entries.values().forEach(entry -> entry.end(false));
    }
  }

  void resume() {
    if (suspended) {
      suspended = false;
      entries.values().forEach(Entry::begin);
    }
  }

  /** Removes everything: the peer is another process, or gone. */
  void clear() {
    if (!suspended) {
      entries.values().forEach(entry -> entry.end(false));
    }
    entries.values().forEach(Entry::release);
    entries.clear();
    stale.clear();
    ignored = 0;
    digest = 0;
    accountDigest = 0;
    known = false;
    replacing = false;
  }
}
