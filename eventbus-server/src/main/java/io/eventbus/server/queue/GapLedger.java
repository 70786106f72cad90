package io.eventbus.server.queue;

import io.eventbus.schema.Gap;
import io.eventbus.schema.GapReason;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Events dropped for one subscriber and not told yet: ranges of sequence numbers for each topic and
 * producer.
 *
 * <p>Ranges that touch are merged. Confined to the subscriber's loop; the caller bounds the number
 * of ranges with {@link #size}.
 */
final class GapLedger {
  /**
   * Key that is comparable, because clients choose topics: a table in which all of them collide
   * stays fast.
   */
  private record Stream(String topic, long producer, GapReason reason)
      implements Comparable<Stream> {
    @Override
    public int compareTo(Stream other) {
      int order = topic.compareTo(other.topic);
      order = order != 0 ? order : Long.compare(producer, other.producer);
      return order != 0 ? order : reason.compareTo(other.reason);
    }
  }

  private final Map<Stream, TreeMap<Long, Long>> ranges = new LinkedHashMap<>();
  private int size;

  void add(String topic, long producer, long from, long to, GapReason reason) {
    TreeMap<Long, Long> stream =
        ranges.computeIfAbsent(new Stream(topic, producer, reason), s -> new TreeMap<>());
    long start = from;
    long end = to;
    Map.Entry<Long, Long> before = stream.floorEntry(from);
    if (before != null && before.getValue() >= from - 1) {
      start = before.getKey();
      end = Math.max(end, before.getValue());
      stream.remove(before.getKey());
      size--;
    }
    Map.Entry<Long, Long> after = stream.ceilingEntry(start);
    while (after != null && after.getKey() <= end + 1) {
      end = Math.max(end, after.getValue());
      stream.remove(after.getKey());
      size--;
      after = stream.ceilingEntry(start);
    }
    stream.put(start, end);
    size++;
  }

  /** Removes and returns the ranges of a stream before a sequence number, in order. */
  List<Gap> takeBefore(String topic, long producer, long sequence) {
    List<Gap> taken = new ArrayList<>();
    for (GapReason reason : GapReason.values()) {
      Stream stream = new Stream(topic, producer, reason);
      TreeMap<Long, Long> found = ranges.get(stream);
      if (found == null) {
        continue;
      }
      Map<Long, Long> head = found.headMap(sequence, false);
      head.forEach((from, to) -> taken.add(gap(stream, from, to)));
      size -= head.size();
      head.clear();
      if (found.isEmpty()) {
        ranges.remove(stream);
      }
    }
    taken.sort((a, b) -> Long.compare(a.getFrom(), b.getFrom()));
    return taken;
  }

  /** Removes and returns everything. */
  List<Gap> takeAll() {
    List<Gap> taken = new ArrayList<>();
    ranges.forEach(
        (stream, found) -> found.forEach((from, to) -> taken.add(gap(stream, from, to))));
    ranges.clear();
    size = 0;
    return taken;
  }

  private static Gap gap(Stream stream, long from, long to) {
    return new Gap(stream.topic(), stream.producer(), from, to, stream.reason());
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** Returns the number of ranges. */
  int size() {
    return size;
  }
}
