package io.eventbus.server.routing;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/**
 * The accounts of a bus: a name space each, so that the same topic in two of them is two topics.
 * What is subscribed to in one is in its own {@link SubscriptionIndex}, which is made when its
 * first client comes or another bus tells of one, and dropped with the last of both. The default
 * account, of all clients that have none, is always there. Any thread.
 */
public final class Accounts {
  /** The name of the default account. */
  public static final String DEFAULT = "";

  private final SubscriptionIndex unnamed;
  private final SubscriptionIndex nobody;
  // Changed under the lock of this object.
  private final NavigableMap<String, SubscriptionIndex> named = new ConcurrentSkipListMap<>();
  private volatile LocalSubscriptions local = LocalSubscriptions.NOBODY;
  // Accounts that have clients here; guarded by this.
  private int served;
  // Salts are different for a long time: those of accounts that are there at once.
  private int lastSalt;

  Accounts(SubscriptionIndex unnamed, BusRoutes shared) {
    this.unnamed = unnamed;
    this.nobody = new SubscriptionIndex(this, shared, DEFAULT, nextSalt());
  }

  /** Spread over all bits: topics of two accounts must not share places in the loops' tables. */
  private int nextSalt() {
    lastSalt++;
    return lastSalt * 0x9e3779b9;
  }

  /**
   * A client comes: its account is kept until it {@linkplain #leave leaves}.
   *
   * @param most how many accounts besides the default one may have clients
   * @return where its subscriptions are, or null if it would be one account too many
   */
  public @Nullable SubscriptionIndex enter(String account, int most) {
    if (account.isEmpty()) {
      return unnamed;
    }
    synchronized (this) {
      SubscriptionIndex there = named.get(account);
      if (there == null || there.clients == 0) {
        if (served >= most) {
          return null;
        }
        served++;
      }
      SubscriptionIndex index = there == null ? make(account) : there;
      index.clients++;
      return index;
    }
  }

  /** A client goes, whose subscriptions are removed. */
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
   * Another bus tells of a subscription: its account is kept until that is {@linkplain #release
   * released}. They are bounded by what that bus may tell.
   *
   * @return where it belongs
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

  /** Another bus tells of a subscription no more, which is removed. */
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

  /**
   * Finds the subscriptions of an account.
   *
   * @return null if it has no clients, here or at a bus that this one has heard of
   */
  public @Nullable SubscriptionIndex find(String account) {
    return account.isEmpty() ? unnamed : named.get(account);
  }

  /**
   * Finds the subscriptions of an account of which something has come from another bus.
   *
   * @return one in which there never is a subscription, if the account has no clients
   */
  public SubscriptionIndex findOrNobody(String account) {
    SubscriptionIndex found = find(account);
    return found == null ? nobody : found;
  }

  /** Makes every remembered route be looked up again; for when other buses have other names. */
  public void invalidate() {
    unnamed.invalidate();
    named.values().forEach(SubscriptionIndex::invalidate);
  }

  /**
   * Counts the subscriptions of clients, of all accounts.
   *
   * @return 0 or more
   */
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

  /** An account that has clients here. */
  public record Figures(String name, int clients, long subscriptions) {}

  /**
   * Lists the accounts that have clients here by name, without the default one.
   *
   * @param after only those whose name is greater; empty for all
   * @param limit at most so many
   * @return fewer than {@code limit} only when there are no more
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
