package io.eventbus.server.measure;

import io.eventbus.server.routing.TopicCount;
import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Topics of all loops by name, at most a second old: a reader of page after page of a hundred
 * thousand topics has them collected and sorted once a second, not for each page. Any thread.
 */
public final class RecentTopics {
  private static final Comparator<TopicCount> ORDER =
      Comparator.comparing(TopicCount::account).thenComparing(TopicCount::topic);

  static final long AGE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Supplier<Stream<TopicCount>> loops;
  private final LongSupplier nanoTime;
  // Soft, because the last list stays until the next request.
  private @Nullable SoftReference<List<TopicCount>> last;
  private long readAt;

  /**
   * Creates an empty list.
   *
   * @param loops the topics of all loops, in no order; a topic of several loops comes several times
   * @param nanoTime as {@link System#nanoTime}
   */
  public RecentTopics(Supplier<Stream<TopicCount>> loops, LongSupplier nanoTime) {
    this.loops = loops;
    this.nanoTime = nanoTime;
  }

  /**
   * Returns a page of at most {@code limit} topics.
   *
   * @param account account of the topics
   * @param after only topics with a greater name; empty for all
   */
  public List<TopicCount> after(String account, String after, int limit) {
    List<TopicCount> all = list();
    int found = Collections.binarySearch(all, new TopicCount(account, after, 0, 0), ORDER);
    int from = found < 0 ? -found - 1 : found + 1;
    int to = from;
    while (to < all.size() && to - from < limit && all.get(to).account().equals(account)) {
      to++;
    }
    return all.subList(from, to);
  }

  private synchronized List<TopicCount> list() {
    long now = nanoTime.getAsLong();
    List<TopicCount> known = last == null || now - readAt >= AGE_NANOS ? null : last.get();
    if (known == null) {
      known = read();
      last = new SoftReference<>(known);
      readAt = now;
    }
    return known;
  }

  private List<TopicCount> read() {
    List<TopicCount> all = new ArrayList<>();
    loops
        .get()
        .sorted(ORDER)
        .forEachOrdered(
            t -> {
              int before = all.size() - 1;
              if (before >= 0 && ORDER.compare(all.get(before), t) == 0) {
                all.set(before, sum(all.get(before), t));
              } else {
                all.add(t);
              }
            });
    return Collections.unmodifiableList(all);
  }

  private static TopicCount sum(TopicCount a, TopicCount b) {
    return new TopicCount(
        a.account(), a.topic(), a.events() + b.events(), a.deliveries() + b.deliveries());
  }
}
