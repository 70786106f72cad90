package io.eventbus.server.session;

import io.eventbus.schema.Ack;
import io.eventbus.server.routing.BusMemory;
import io.eventbus.server.routing.HeapBytes;
import io.eventbus.server.stats.LoopStats;
import io.eventbus.server.stats.SingleWriterCounter;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How far a subscriber has come, by its own word: the last acknowledged sequence of the topics and
 * producers that it acknowledged most recently, at most {@value #MAX} of them with topics of
 * {@value #MAX_TEXT} characters in all. What is kept counts as the bus's memory.
 *
 * <p>Written by the session's loop only; read by any thread, for which the loop never waits.
 */
public final class Acknowledgements {
  static final int MAX = 16;
  static final int MAX_TEXT = 2048;

  /** The stream, what is kept of it, and its place in the map. */
  private static final int ENTRY_BYTES = 136;

  /** A stream of events. Comparable, because clients choose topics. */
  public record Stream(String topic, long producer) implements Comparable<Stream> {
    @Override
    public int compareTo(Stream other) {
      int order = topic.compareTo(other.topic);
      return order != 0 ? order : Long.compare(producer, other.producer);
    }
  }

  private static final class Latest {
    volatile long sequence;
    long usedAt;
  }

  private final BusMemory memory;
  private final LoopStats stats;
  private final SingleWriterCounter count = new SingleWriterCounter();
  // Made with the first Ack: most sessions never send one.
  private volatile Map<Stream, Latest> streams = Map.of();
  private int text;
  private final SingleWriterCounter bytes = new SingleWriterCounter();

  Acknowledgements(BusMemory memory, LoopStats stats) {
    this.memory = memory;
    this.stats = stats;
  }

  void add(Ack ack) {
    count.add(1);
    stats.acks.add(1);
    if (streams.isEmpty()) {
      streams = new ConcurrentHashMap<>(MAX);
    }
    Stream stream = new Stream(ack.getTopic(), ack.getProducer());
    Latest latest = streams.get(stream);
    if (latest == null) {
      latest = new Latest();
      latest.sequence = ack.getSequence();
      streams.put(stream, latest);
      keep(stream, 1);
    } else {
      latest.sequence = Math.max(latest.sequence, ack.getSequence());
    }
    latest.usedAt = count.get();
    while (streams.size() > MAX || text > MAX_TEXT) {
      Stream oldest = oldest();
      streams.remove(oldest);
      keep(oldest, -1);
    }
  }

  /** There are few: looking at all is cheaper than an order that every Ack would change. */
  private Stream oldest() {
    Stream oldest = new Stream("", 0);
    long usedAt = Long.MAX_VALUE;
    for (Map.Entry<Stream, Latest> entry : streams.entrySet()) {
      if (entry.getValue().usedAt < usedAt) {
        oldest = entry.getKey();
        usedAt = entry.getValue().usedAt;
      }
    }
    return oldest;
  }

  /** Counts a stream that is kept from now on, or with -1 one that no longer is. */
  private void keep(Stream stream, int sign) {
    long size = ENTRY_BYTES + HeapBytes.ofString(stream.topic());
    text += sign * stream.topic().length();
    bytes.add(sign * size);
    memory.change(sign * size);
  }

  /** About what is kept; any thread. */
  long bytes() {
    return bytes.get();
  }

  /** Forgets all, at the end of the session. */
  void close() {
    streams = Map.of();
    memory.release(bytes.get());
    bytes.add(-bytes.get());
    text = 0;
  }

  /**
   * Returns how many acknowledgements came.
   *
   * @return 0 or more
   */
  public long count() {
    return count.get();
  }

  /** Returns the last acknowledged sequence of the most recent streams. */
  public Map<Stream, Long> latest() {
    Map<Stream, Long> copy = new HashMap<>();
    streams.forEach((stream, latest) -> copy.put(stream, latest.sequence));
    return copy;
  }
}
