package io.eventbus.server.federation.interest;

import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.RouteTarget;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.eventbus.server.federation.schema.AccountEntry;
import io.eventbus.server.federation.schema.Interest;
import io.eventbus.server.federation.schema.InterestEntry;
import io.eventbus.server.subscription.Accounts;
import io.eventbus.server.subscription.LocalSubscriptions;
import io.eventbus.server.subscription.RoutedSubscription;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Interest of the clients of this bus as announced to peers: filters and groups that have
 * subscribers. Only the first and the last subscriber of a filter change it, and those that change
 * its strictest policy. Any thread.
 */
public final class LocalInterest implements LocalSubscriptions {
  private static final int CHUNK = 256;

  /**
   * Key of an announced entry. Comparable, because clients choose filters: tables in which all of
   * them collide stay fast, here and at peers.
   *
   * @param account account of the subscribers; empty for the default account
   * @param group group, null for subscribers without one
   */
  record Key(String account, String filter, @Nullable String group) implements Comparable<Key> {
    private static final Comparator<Key> ORDER =
        Comparator.comparing(Key::filter)
            .thenComparing(Key::group, Comparator.nullsFirst(Comparator.<String>naturalOrder()))
            .thenComparing(Key::account);

    @Override
    public int compareTo(Key other) {
      return ORDER.compare(this, other);
    }

    static Key of(String account, RoutedSubscription s) {
      return new Key(account, s.filter().toString(), s.group());
    }

    boolean isOfDefaultAccount() {
      return account.isEmpty();
    }

    /**
     * Returns the hash of an entry. That of the default account is as before accounts existed:
     * older buses compute the same sum.
     */
    long hash(int overflow) {
      long h = 1125899906842597L;
      for (int i = 0; i < account.length(); i++) {
        h = 31 * h + account.charAt(i);
      }
      if (!account.isEmpty()) {
        // End of the account: no filter has this character.
        h = 31 * h + '\n';
      }
      for (int i = 0; i < filter.length(); i++) {
        h = 31 * h + filter.charAt(i);
      }
      String g = group;
      h = 31 * h + (g == null ? 0 : 1);
      for (int i = 0; g != null && i < g.length(); i++) {
        h = 31 * h + g.charAt(i);
      }
      h = 31 * h + overflow;
      // Mixed, so that sums of hashes of similar filters do not cancel each other.
      h ^= h >>> 33;
      h *= 0xff51afd7ed558ccdL;
      return h ^ (h >>> 33);
    }
  }

  private final Runnable changed;
  private final Map<Key, int[]> counts = new HashMap<>();
  private final Set<RoutedSubscription> withdrawn = new HashSet<>(4);
  private Map<Key, Integer> changes = new LinkedHashMap<>();
  private long version;
  private long digest;
  private long accountDigest;

  /**
   * Creates an empty interest.
   *
   * @param changed run under a lock when there is the first change to announce
   */
  public LocalInterest(Runnable changed) {
    this.changed = changed;
  }

  @Override
  public LocalSubscriptions ofAccount(String account) {
    return new OfAccount(account);
  }

  /** Listener for one account. */
  private final class OfAccount implements LocalSubscriptions {
    private final String account;

    OfAccount(String account) {
      this.account = account;
    }

    @Override
    public void added(RoutedSubscription s) {
      change(account, s, 1);
    }

    @Override
    public void withdrawn(RoutedSubscription s) {
      LocalInterest.this.withdrawn(account, s);
    }

    @Override
    public void removed(RoutedSubscription s) {
      LocalInterest.this.removed(account, s);
    }
  }

  @Override
  public void added(RoutedSubscription s) {
    change(Accounts.DEFAULT, s, 1);
  }

  @Override
  public void withdrawn(RoutedSubscription s) {
    withdrawn(Accounts.DEFAULT, s);
  }

  @Override
  public void removed(RoutedSubscription s) {
    removed(Accounts.DEFAULT, s);
  }

  private synchronized void withdrawn(String account, RoutedSubscription s) {
    if (withdrawn.add(s)) {
      change(account, s, -1);
    }
  }

  private synchronized void removed(String account, RoutedSubscription s) {
    if (!withdrawn.remove(s)) {
      change(account, s, -1);
    }
  }

  private void change(String account, RoutedSubscription s, int by) {
    Key key = Key.of(account, s);
    if (ServiceEntry.service(key) == null) {
      change(key, s.overflow(), by);
    }
  }

  /** Adds or removes a service whose members here take calls. */
  public void serves(String account, String service, boolean serves) {
    change(ServiceEntry.key(account, service), Overflow.BLOCK, serves ? 1 : -1);
  }

  private synchronized void change(Key key, Overflow overflow, int by) {
    int[] of = counts.computeIfAbsent(key, k -> new int[PolicyCode.COUNT]);
    int before = strictest(of);
    of[PolicyCode.of(overflow)] += by;
    int now = strictest(of);
    if (now < 0) {
      counts.remove(key);
    }
    if (now == before) {
      return;
    }
    long difference = (now < 0 ? 0 : key.hash(now)) - (before < 0 ? 0 : key.hash(before));
    if (key.isOfDefaultAccount()) {
      digest += difference;
    } else {
      accountDigest += difference;
    }
    version++;
    boolean first = changes.isEmpty();
    changes.put(key, now);
    if (first) {
      changed.run();
    }
  }

  private static int strictest(int[] counts) {
    int strictest = PolicyCode.NONE;
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] > 0) {
        strictest =
            strictest == PolicyCode.NONE
                ? i
                : PolicyCode.of(
                    RouteTarget.stricter(PolicyCode.overflow(strictest), PolicyCode.overflow(i)));
      }
    }
    return strictest;
  }

  /** Returns whether members here take calls of a service. */
  public synchronized boolean serves(String account, String service) {
    return counts.containsKey(ServiceEntry.key(account, service));
  }

  public synchronized long version() {
    return version;
  }

  public synchronized int size() {
    return counts.size();
  }

  public synchronized boolean contains(String account, String filter, @Nullable String group) {
    return counts.containsKey(new Key(account, filter, group));
  }

  /** Returns the changes since the last call, as frames; empty for none. */
  synchronized List<byte[]> increment() {
    if (changes.isEmpty()) {
      return List.of();
    }
    Map<Key, Integer> now = changes;
    changes = new LinkedHashMap<>();
    return frames(false, now);
  }

  /** Returns the whole interest, as frames. */
  synchronized List<byte[]> whole() {
    Map<Key, Integer> all = new HashMap<>();
    counts.forEach((key, of) -> all.put(key, strictest(of)));
    return frames(true, all);
  }

  private List<byte[]> frames(boolean whole, Map<Key, Integer> states) {
    List<byte[]> frames = new ArrayList<>();
    Iterator<Map.Entry<Key, Integer>> all = states.entrySet().iterator();
    boolean begins = whole;
    do {
      List<InterestEntry> entries = new ArrayList<>();
      List<AccountEntry> others = new ArrayList<>();
      while (all.hasNext() && entries.size() + others.size() < CHUNK) {
        Map.Entry<Key, Integer> next = all.next();
        Key key = next.getKey();
        if (key.isOfDefaultAccount()) {
          entries.add(new InterestEntry(key.filter(), key.group(), next.getValue()));
        } else {
          others.add(new AccountEntry(key.account(), key.filter(), key.group(), next.getValue()));
        }
      }
      Interest interest =
          new Interest(version, begins, all.hasNext(), digest, entries, others, accountDigest);
      frames.add(PeerFrames.encode(PeerFrames.INTEREST, interest));
      begins = false;
    } while (all.hasNext());
    return frames;
  }
}
