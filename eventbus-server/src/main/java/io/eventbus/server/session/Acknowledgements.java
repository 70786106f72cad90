package io.eventbus.server.session;

import io.eventbus.schema.Ack;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.memory.HeapBytes;
import io.eventbus.server.stats.LoopStats;
import io.eventbus.server.stats.SingleWriterCounter;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Progress of a subscriber by its own account: the last acknowledged sequence of the topics and
 * producers that it acknowledged most recently, at most {@value #MAX_STREAMS} of them with topics
 * of {@value #MAX_TOPIC_CHARS} characters in all. The memory for it counts as the bus's.
 *
 * <p>Only the session's loop writes, any thread reads, and the loop never waits for a reader.
 */
public final class Acknowledgements {
  static final int MAX_STREAMS = 16;
  static final int MAX_TOPIC_CHARS = 2048;

  /** Heap bytes of a stream, its entry, and its place in the map. */
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
  // Allocated with the first Ack: most sessions never send any.
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
      streams = new ConcurrentHashMap<>(MAX_STREAMS);
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
    while (streams.size() > MAX_STREAMS || text > MAX_TOPIC_CHARS) {
      Stream oldest = oldest();
      streams.remove(oldest);
      keep(oldest, -1);
    }
  }

  /**
   * Returns the stream that was acknowledged least recently. There are few: a scan is cheaper than
   * an order that every Ack would change.
   */
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

  /** Accounts for a stream that was added (1) or removed (-1). */
  private void keep(Stream stream, int sign) {
    long size = ENTRY_BYTES + HeapBytes.ofString(stream.topic());
    text += sign * stream.topic().length();
    bytes.add(sign * size);
    memory.change(sign * size);
  }

  /** Returns the estimated heap bytes of the entries; any thread. */
  long bytes() {
    return bytes.get();
  }

  /** Forgets all streams at the end of the session. */
  void close() {
    streams = Map.of();
    memory.release(bytes.get());
    bytes.add(-bytes.get());
    text = 0;
  }

  /** Returns the number of acknowledgements received. */
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
