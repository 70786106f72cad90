package io.eventbus.server.subscription;

import io.eventbus.protocol.TopicFilter;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts of an index's changes, so that a loop sees whether a remembered topic still holds: that of
 * the topic's stripe for a plain filter, that of the first token's stripe for one with wildcards
 * further behind, a common one for the others. So a change elsewhere leaves most routes valid. Any
 * thread; changes come under the index's lock, but for {@link #invalidate}.
 */
final class IndexVersions {
  /** Maximum of stripes that a {@link #stripe} tells apart. */
  static final int MAX_STRIPES = 4096;

  /** Part of the numbers of {@link #stripe stripes} that counts here. */
  final int mask;

  private final AtomicLongArray exact;
  private final AtomicLongArray firstToken;
  private final AtomicLong wildcard = new AtomicLong();
  private final AtomicLong invalidations = new AtomicLong();

  /** Creates counts for so many stripes, a power of two, of at most {@link #MAX_STRIPES}. */
  IndexVersions(int stripes) {
    mask = stripes - 1;
    exact = new AtomicLongArray(stripes);
    firstToken = new AtomicLongArray(stripes);
  }

  /** Counts a change of the subscriptions with a filter. */
  void changed(TopicFilter filter) {
    String text = filter.toString();
    if (filter.isExact()) {
      exact.incrementAndGet(stripe(text, text.length()) & mask);
    } else if (!filter.tokens().isEmpty() && !filter.tokens().get(0).equals("*")) {
      firstToken.incrementAndGet(stripe(text, filter.tokens().get(0).length()) & mask);
    } else {
      wildcard.incrementAndGet();
    }
  }

  /** Invalidates everything that is remembered. */
  void invalidate() {
    invalidations.incrementAndGet();
    wildcard.incrementAndGet();
  }

  /** Returns whether nothing that concerns a topic has changed since it was noted; cheap. */
  boolean isCurrent(TopicRoute of) {
    return exact.get(of.stripe) == of.exact
        && firstToken.get(of.firstTokenStripe) == of.firstToken
        && wildcard.get() == of.wildcard;
  }

  /** Notes what a look-up is as of; under the lock that it was made under. */
  void note(TopicRoute of) {
    // The first of the two that an invalidation counts up: it may be seen too late, not too
    // early.
    of.invalidations = invalidations.get();
    of.exact = exact.get(of.stripe);
    of.firstToken = firstToken.get(of.firstTokenStripe);
    of.wildcard = wildcard.get();
  }

  /** Returns the stripe of the first so many characters. */
  static int stripe(String topic, int length) {
    int h = 0;
    for (int i = 0; i < length; i++) {
      h = 31 * h + topic.charAt(i);
    }
    return (h ^ (h >>> 16)) & (MAX_STRIPES - 1);
  }
}
