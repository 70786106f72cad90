package io.eventbus.it;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Gap;
import java.io.IOException;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * Events that a subscriber was told about of each topic and producer: every number is either
 * delivered or in a gap, never both and never twice, and nothing is told about a later one before.
 */
final class Coverage {
  private record Stream(String topic, long producer) {}

  private final Map<Stream, BitSet> known = new HashMap<>();
  private final Map<Stream, BitSet> delivered = new HashMap<>();
  private int deliveredCount;
  private int missingCount;

  /** Reads until so many events are delivered or known to be missing. */
  Coverage readUntil(RawClient client, int events) throws IOException {
    while (deliveredCount + missingCount < events) {
      RawClient.BusFrame frame = client.read();
      if (frame == null) {
        throw new AssertionError(
            "closed with " + client.closeCode + " " + client.closeReason + " after " + this);
      }
      take(frame);
    }
    return this;
  }

  private void take(RawClient.BusFrame frame) {
    if (frame.typeCode() == TypeCode.DELIVER.code()) {
      RawClient.Delivered d = RawClient.delivered(frame);
      for (int i = 0; i < d.payloads().size(); i++) {
        deliver(new Stream(d.topic(), d.producer()), (int) d.sequence() + i);
      }
    } else if (frame.typeCode() == TypeCode.GAP.code()) {
      Gap gap = ControlFrames.gap(frame.buffer(), 0, frame.body().length);
      BitSet set = of(known, new Stream(gap.getTopic(), gap.getProducer()));
      int from = (int) gap.getFrom();
      int to = (int) gap.getTo() + 1;
      int next = set.nextSetBit(from);
      if (from < 1 || to <= from || (next >= 0 && next < to)) {
        throw new AssertionError(gap + " (expected: numbers not told of before)");
      }
      set.set(from, to);
      missingCount += to - from;
    } else {
      throw new AssertionError("a frame of type " + frame.typeCode());
    }
  }

  private void deliver(Stream stream, int sequence) {
    BitSet set = of(known, stream);
    if (set.get(sequence)) {
      throw new AssertionError(stream + " " + sequence + " a second time");
    }
    int firstUnknown = set.nextClearBit(1);
    if (firstUnknown < sequence) {
      throw new AssertionError(
          stream + " " + sequence + " before it was told what became of " + firstUnknown);
    }
    set.set(sequence);
    of(delivered, stream).set(sequence);
    deliveredCount++;
  }

  private static BitSet of(Map<Stream, BitSet> sets, Stream stream) {
    return sets.computeIfAbsent(stream, s -> new BitSet());
  }

  int deliveredCount() {
    return deliveredCount;
  }

  int missingCount() {
    return missingCount;
  }

  boolean wasDelivered(String topic, int sequence) {
    return delivered.entrySet().stream()
        .anyMatch(e -> e.getKey().topic().equals(topic) && e.getValue().get(sequence));
  }

  /** Returns how many events were delivered of topics with one producer. */
  int deliveredOf(String topic) {
    return delivered.entrySet().stream()
        .filter(e -> e.getKey().topic().equals(topic))
        .mapToInt(e -> e.getValue().cardinality())
        .sum();
  }

  @Override
  public String toString() {
    return deliveredCount + " delivered and " + missingCount + " missing";
  }
}
