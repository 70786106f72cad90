package io.eventbus.server;

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
 * The topics of all loops by name, as they were at most a second ago: who reads page after page of
 * a hundred thousand topics has them collected and sorted once a second, not for each page. Any
 * thread.
 */
final class RecentTopics {
  static final long AGE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Supplier<Stream<TopicCount>> loops;
  private final LongSupplier nanoTime;
  // Soft, because the last list stays until the next request.
  private @Nullable SoftReference<List<TopicCount>> last;
  private long readAt;

  /**
   * Makes one that has read nothing yet.
   *
   * @param loops the topics of all loops, in no order; one of several loops comes several times
   * @param nanoTime as {@link System#nanoTime}
   */
  RecentTopics(Supplier<Stream<TopicCount>> loops, LongSupplier nanoTime) {
    this.loops = loops;
    this.nanoTime = nanoTime;
  }

  /**
   * Returns a page.
   *
   * @param after only topics with a greater name; empty for all
   * @param limit at most so many
   */
  List<TopicCount> after(String after, int limit) {
    List<TopicCount> all = list();
    int found =
        Collections.binarySearch(
            all, new TopicCount(after, 0, 0), Comparator.comparing(TopicCount::topic));
    int from = found < 0 ? -found - 1 : found + 1;
    return all.subList(from, (int) Math.min(all.size(), (long) from + limit));
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
        .sorted(Comparator.comparing(TopicCount::topic))
        .forEachOrdered(
            t -> {
              int before = all.size() - 1;
              if (before >= 0 && all.get(before).topic().equals(t.topic())) {
                all.set(before, sum(all.get(before), t));
              } else {
                all.add(t);
              }
            });
    return Collections.unmodifiableList(all);
  }

  private static TopicCount sum(TopicCount a, TopicCount b) {
    return new TopicCount(a.topic(), a.events() + b.events(), a.deliveries() + b.deliveries());
  }
}
