package io.eventbus.loadtest.system;

import io.eventbus.client.Gap;
import io.eventbus.client.ReceivedEvent;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;

/**
 * Events that a subscriber has seen, by the numbers that publishers write into their events, and
 * not by those of the buses: the events of a stream, which is a topic, are numbered from 1. Safe
 * for use by several threads.
 */
final class Streams {
  private final Map<String, Stream> streams = new TreeMap<>();

  private static final class Stream {
    final BitSet seen = new BitSet();
    final BitSet told = new BitSet();
    int last;
    int doubled;
    int disordered;
    int toldTwice;
  }

  /**
   * Events that a subscriber has not seen as it should have.
   *
   * @param missing events that did not come
   * @param disordered events that came after a later one
   * @param untold events that did not come and that the subscriber was not told of
   */
  record Faults(int missing, int doubled, int disordered, int untold, int mistold) {
    static final Faults NONE = new Faults(0, 0, 0, 0, 0);

    Faults plus(Faults other) {
      return new Faults(
          missing + other.missing,
          doubled + other.doubled,
          disordered + other.disordered,
          untold + other.untold,
          mistold + other.mistold);
    }
  }

  void accept(ReceivedEvent event) {
    accept(event.topic(), Integer.parseInt(event.text()));
  }

  synchronized void accept(String topic, int number) {
    Stream stream = stream(topic);
    if (stream.seen.get(number)) {
      stream.doubled++;
    } else if (number < stream.last) {
      stream.disordered++;
    }
    stream.seen.set(number);
    stream.last = Math.max(stream.last, number);
  }

  /** A stream has one publisher, which keeps its number: so the bus's numbers are the same. */
  synchronized void accept(Gap gap) {
    Stream stream = stream(gap.topic());
    for (int n = (int) gap.from(); n <= gap.to(); n++) {
      if (stream.told.get(n)) {
        stream.toldTwice++;
      }
      stream.told.set(n);
    }
  }

  private Stream stream(String topic) {
    return streams.computeIfAbsent(topic, t -> new Stream());
  }

  /** The number of the latest event of a stream, 0 before the first. */
  synchronized int last(String topic) {
    return stream(topic).last;
  }

  /** Compares with what was published: so many events of each stream. */
  synchronized Faults compare(Map<String, Integer> published) {
    Faults all = Faults.NONE;
    for (Map.Entry<String, Integer> entry : published.entrySet()) {
      Stream stream = stream(entry.getKey());
      BitSet missing = new BitSet();
      missing.set(1, entry.getValue() + 1);
      missing.andNot(stream.seen);
      BitSet untold = (BitSet) missing.clone();
      untold.andNot(stream.told);
      BitSet mistold = (BitSet) stream.told.clone();
      mistold.and(stream.seen);
      all =
          all.plus(
              new Faults(
                  missing.cardinality(),
                  stream.doubled,
                  stream.disordered,
                  untold.cardinality(),
                  mistold.cardinality() + stream.toldTwice));
    }
    return all;
  }
}
