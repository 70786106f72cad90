package io.eventbus.loadtest.attack.wire;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts of all connections of a program. Any thread. */
public final class WireCounts {
  private final LongAdder connected = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder welcomed = new LongAdder();
  private final LongAdder sent = new LongAdder();
  private final LongAdder received = new LongAdder();
  private final Map<Integer, LongAdder> closes = new ConcurrentHashMap<>();

  /** Creates one of zeros. */
  public WireCounts() {}

  void connected() {
    connected.increment();
  }

  void failed() {
    failed.increment();
  }

  void welcomed() {
    welcomed.increment();
  }

  void sent(long octets) {
    sent.add(octets);
  }

  void received(long octets) {
    received.add(octets);
  }

  void closed(int code) {
    closes.computeIfAbsent(code, c -> new LongAdder()).increment();
  }

  /** Returns the figures by name. */
  public Map<String, Long> figures() {
    Map<String, Long> figures = new TreeMap<>();
    figures.put("connected", connected.sum());
    figures.put("connectFailed", failed.sum());
    figures.put("welcomed", welcomed.sum());
    figures.put("bytesSent", sent.sum());
    figures.put("bytesReceived", received.sum());
    return figures;
  }

  /** Returns how connections ended that the bus ended. */
  public Map<Integer, Long> closes() {
    Map<Integer, Long> counts = new TreeMap<>();
    closes.forEach((code, count) -> counts.put(code, count.sum()));
    return counts;
  }
}
