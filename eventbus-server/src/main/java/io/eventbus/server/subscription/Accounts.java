package io.eventbus.server.subscription;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/**
 * Accounts of a bus: a name space each, so that the same topic in two of them is two topics.
 * Subscriptions of an account are in its own {@link SubscriptionIndex}, which is created with its
 * first client or the first subscription of a peer, and dropped with the last of both. The default
 * account, of all clients that have none, always exists. Any thread.
 */
public final class Accounts {
  /** Name of the default account. */
  public static final String DEFAULT = "";

  private final SubscriptionIndex unnamed;
  private final SubscriptionIndex nobody;
  // Changed under the lock of this object.
  private final NavigableMap<String, SubscriptionIndex> named = new ConcurrentSkipListMap<>();
  private volatile LocalSubscriptions local = LocalSubscriptions.NOBODY;
  // Accounts that have clients here; guarded by this.
  private int served;
  // Salts differ for a long time: those of concurrent accounts.
  private int lastSalt;

  Accounts(SubscriptionIndex unnamed, BusRoutes shared) {
    this.unnamed = unnamed;
    this.nobody = new SubscriptionIndex(this, shared, DEFAULT, nextSalt());
  }

  /**
   * Returns a salt spread over all bits: topics of two accounts must not share places in the loops'
   * tables.
   */
  private int nextSalt() {
    lastSalt++;
    return lastSalt * 0x9e3779b9;
  }

  /**
   * Enters a client: its account is kept until it {@linkplain #leave leaves}.
   *
   * @param max maximum of accounts with clients besides the default one
   * @return the index of its subscriptions, or null if it would be one account too many
   */
  public @Nullable SubscriptionIndex enter(String account, int max) {
    if (account.isEmpty()) {
      return unnamed;
    }
    synchronized (this) {
      SubscriptionIndex there = named.get(account);
      if (there == null || there.clients == 0) {
        if (served >= max) {
          return null;
        }
        served++;
      }
      SubscriptionIndex index = there == null ? make(account) : there;
      index.clients++;
      return index;
    }
  }

  /** Leaves a client's account; its subscriptions are removed already. */
  public void leave(SubscriptionIndex index) {
    if (!index.account().isEmpty()) {
      synchronized (this) {
        if (--index.clients == 0) {
          served--;
          dropIfUnused(index);
        }
      }
    }
  }

  /**
   * Keeps the account of a peer's subscription until it is {@linkplain #release released}, and
   * returns its index. The peer bounds such subscriptions.
   */
  public SubscriptionIndex keep(String account) {
    if (account.isEmpty()) {
      return unnamed;
    }
    synchronized (this) {
      SubscriptionIndex there = named.get(account);
      SubscriptionIndex index = there == null ? make(account) : there;
      index.told++;
      return index;
    }
  }

  /** Releases the account of a peer's subscription, which is removed already. */
  public void release(SubscriptionIndex index) {
    if (!index.account().isEmpty()) {
      synchronized (this) {
        index.told--;
        dropIfUnused(index);
      }
    }
  }

  private SubscriptionIndex make(String account) {
    SubscriptionIndex made = new SubscriptionIndex(this, unnamed.shared(), account, nextSalt());
    made.hear(local.ofAccount(account));
    named.put(account, made);
    return made;
  }

  private void dropIfUnused(SubscriptionIndex index) {
    if (index.clients == 0 && index.told == 0) {
      named.remove(index.account(), index);
      index.drop();
    }
  }

  /** Sets what hears of the subscriptions of clients, of all accounts; before there are any. */
  void onLocalChange(LocalSubscriptions listener) {
    local = listener;
    unnamed.hear(listener);
  }

  /** Returns the index of an account, or null if it has no clients, here or at a known peer. */
  public @Nullable SubscriptionIndex find(String account) {
    return account.isEmpty() ? unnamed : named.get(account);
  }

  /**
   * Returns the index of an account of an event from a peer; an always empty one if the account has
   * no clients.
   */
  public SubscriptionIndex findOrNobody(String account) {
    SubscriptionIndex found = find(account);
    return found == null ? nobody : found;
  }

  /** Invalidates every remembered route, when peers have other names. */
  public void invalidate() {
    unnamed.invalidate();
    named.values().forEach(SubscriptionIndex::invalidate);
  }

  /** Returns the number of clients' subscriptions, of all accounts. */
  public long subscriptions() {
    long all = unnamed.size();
    for (SubscriptionIndex each : named.values()) {
      all += each.size();
    }
    return all;
  }

  /** Counts the accounts that have clients here. */
  public synchronized int served() {
    return served;
  }

  /** Account that has clients here. */
  public record Figures(String name, int clients, long subscriptions) {}

  /**
   * Returns the accounts with clients here by name, without the default one; fewer than {@code
   * limit} only if there are no more.
   *
   * @param after only those whose name is greater; empty for all
   */
  public synchronized List<Figures> list(String after, int limit) {
    List<Figures> some = new ArrayList<>();
    for (SubscriptionIndex each : named.tailMap(after, false).values()) {
      if (some.size() >= limit) {
        break;
      }
      if (each.clients > 0) {
        some.add(new Figures(each.account(), each.clients, each.size()));
      }
    }
    return some;
  }
}
