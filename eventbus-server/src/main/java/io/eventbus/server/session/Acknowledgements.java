package io.eventbus.server.session;

import io.eventbus.schema.Ack;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How far a subscriber has come, by its own word: the last acknowledged sequence of the topics and
 * producers that it acknowledged most recently. Bounded; any thread.
 */
public final class Acknowledgements {
  private static final int MOST = 256;

  /**
   * A stream of events.
   *
   * @param topic the topic
   * @param producer the producer's number
   */
  public record Stream(String topic, long producer) {}

  private long count;
  // Made with the first Ack: most sessions never send one.
  private Map<Stream, Long> latest = Map.of();

  Acknowledgements() {}

  synchronized void add(Ack ack) {
    if (latest.isEmpty()) {
      latest = new LinkedHashMap<>(16, 0.75f, true);
    }
    count++;
    latest.merge(new Stream(ack.getTopic(), ack.getProducer()), ack.getSequence(), Math::max);
    if (latest.size() > MOST) {
      latest.remove(latest.keySet().iterator().next());
    }
  }

  /**
   * Returns how many acknowledgements came.
   *
   * @return 0 or more
   */
  public synchronized long count() {
    return count;
  }

  /**
   * Returns the last acknowledged sequence of the most recent streams.
   *
   * @return a copy
   */
  public synchronized Map<Stream, Long> latest() {
    return Map.copyOf(latest);
  }
}
