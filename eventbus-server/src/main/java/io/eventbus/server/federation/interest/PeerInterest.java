package io.eventbus.server.federation.interest;

import io.eventbus.protocol.ServiceName;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Interest;
import io.eventbus.schema.InterestEntry;
import io.eventbus.server.routing.RemoteBus;
import io.eventbus.server.routing.Subscription;
import io.eventbus.server.routing.SubscriptionIndex;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What another bus's clients subscribe to: kept in the index, where its entries stand for that bus.
 * Confined to the first loop.
 */
final class PeerInterest {
  private static final Logger LOG = LoggerFactory.getLogger(PeerInterest.class);

  /** What a frame comes to. */
  enum Outcome {
    /** More is to come before anything can be said. */
    INCOMPLETE,
    /** It holds from now on. */
    APPLIED,
    /** It does not fit what was said before: the whole is needed. */
    MISMATCH
  }

  private final RemoteBus bus;
  private final SubscriptionIndex index;
  private final BiConsumer<String, Boolean> services;
  // The other bus sees to the limit, but for those that pass it at the same time on several loops,
  // and while the whole replaces what was told before.
  private final int most;
  private final Map<LocalInterest.Key, Subscription> entries = new HashMap<>();
  private Set<LocalInterest.Key> stale = new HashSet<>();
  private boolean replacing;
  private long digest;
  private int ignored;
  private boolean suspended;
  private boolean known;

  /**
   * Knows nothing yet.
   *
   * @param services told of each service that the bus serves from now on, or not any more
   */
  PeerInterest(
      RemoteBus bus, SubscriptionIndex index, int limit, BiConsumer<String, Boolean> services) {
    this.bus = bus;
    this.index = index;
    this.services = services;
    this.most = (int) Math.min(Integer.MAX_VALUE, 2L * limit);
  }

  /** Whether the whole has come once. */
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
    // First those that make room.
    set(interest.getEntries(), true);
    set(interest.getEntries(), false);
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
    boolean tooMany = ignored > 0 && entries.size() + ignored > most;
    return tooMany || digest == interest.getDigest() ? Outcome.APPLIED : Outcome.MISMATCH;
  }

  private void set(List<InterestEntry> changed, boolean removals) {
    for (InterestEntry entry : changed) {
      if (entry.getOverflow() < 0 == removals) {
        LocalInterest.Key key = new LocalInterest.Key(entry.getFilter(), entry.getGroup());
        stale.remove(key);
        set(key, entry.getOverflow());
      }
    }
  }

  private void set(LocalInterest.Key key, int overflow) {
    Subscription before = entries.get(key);
    int policyBefore = before == null ? PolicyCode.NONE : PolicyCode.of(before.overflow());
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
      if (before == null && entries.size() >= most) {
        ignore();
        return;
      }
      Subscription now =
          new Subscription(
              bus, 0, TopicFilter.parse(key.filter()), key.group(), PolicyCode.overflow(overflow));
      entries.put(key, now);
      digest += key.hash(overflow);
      if (!suspended) {
        begin(key, now);
      }
    }
    if (before != null) {
      digest -= key.hash(policyBefore);
      // After the other has come, so that no event finds neither.
      if (!suspended) {
        end(key, before, overflow >= 0);
      }
    }
  }

  private void begin(LocalInterest.Key key, Subscription entry) {
    String service = ServiceEntry.service(key);
    if (service == null) {
      index.add(entry);
    } else if (ServiceName.problem(service) == null) {
      services.accept(service, true);
    }
  }

  private void end(LocalInterest.Key key, Subscription entry, boolean replaced) {
    String service = ServiceEntry.service(key);
    if (service == null) {
      index.remove(entry);
    } else if (!replaced && ServiceName.problem(service) == null) {
      services.accept(service, false);
    }
  }

  private void ignore() {
    if (ignored++ == 0) {
      LOG.error(
          "{} has told of more than {} filters, twice as many as it may (federation.filters,"
              + " expected: the same at all buses); it does not get the events of the others",
          bus,
          most);
    }
  }

  /** Nothing is sent to the bus until it is heard of again. */
  void suspend() {
    if (!suspended) {
      suspended = true;
      entries.forEach((key, entry) -> end(key, entry, false));
    }
  }

  void resume() {
    if (suspended) {
      suspended = false;
      entries.forEach(this::begin);
    }
  }

  /** Forgets everything: the bus is another process, or gone. */
  void clear() {
    if (!suspended) {
      entries.forEach((key, entry) -> end(key, entry, false));
    }
    entries.clear();
    stale.clear();
    ignored = 0;
    digest = 0;
    known = false;
    replacing = false;
  }
}
