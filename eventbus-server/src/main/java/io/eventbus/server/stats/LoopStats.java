package io.eventbus.server.stats;

import java.util.EnumMap;
import java.util.Map;

/** Counters of one event loop. Only that loop writes; any thread reads. */
public final class LoopStats {
  /** WebSocket messages received. */
  public final SingleWriterCounter messagesIn = new SingleWriterCounter();

  /** Bytes received, WebSocket framing included, TLS not. */
  public final SingleWriterCounter bytesIn = new SingleWriterCounter();

  /** Events published by clients and accepted. */
  public final SingleWriterCounter eventsIn = new SingleWriterCounter();

  /** WebSocket messages written. */
  public final SingleWriterCounter messagesOut = new SingleWriterCounter();

  /** Bytes written, WebSocket framing included, TLS not. */
  public final SingleWriterCounter bytesOut = new SingleWriterCounter();

  /** Events queued for subscribers. */
  public final SingleWriterCounter deliveries = new SingleWriterCounter();

  /** Events written to sockets. */
  public final SingleWriterCounter eventsOut = new SingleWriterCounter();

  /** Gap frames sent. */
  public final SingleWriterCounter gaps = new SingleWriterCounter();

  /** Acknowledgements received. */
  public final SingleWriterCounter acks = new SingleWriterCounter();

  /** Times that a publisher was stopped because a queue was full. */
  public final SingleWriterCounter publishersStopped = new SingleWriterCounter();

  /** Publications to durable topics that are stored. */
  public final SingleWriterCounter stored = new SingleWriterCounter();

  /** Settlements of events that their consumers had no more. */
  public final SingleWriterCounter lateSettlements = new SingleWriterCounter();

  /**
   * Time from the receipt of the oldest event of a flush until its bytes were handed to the socket.
   */
  public final LatencyBuckets latency = new LatencyBuckets();

  /** Counters of calls. */
  public final CallStats calls = new CallStats();

  /** Counters of calls that peers have sent. */
  public final CallStats callsFromBuses = new CallStats();

  private final Map<DropReason, SingleWriterCounter> drops = new EnumMap<>(DropReason.class);

  /** Creates counters at zero. */
  public LoopStats() {
    for (DropReason reason : DropReason.values()) {
      drops.put(reason, new SingleWriterCounter());
    }
  }

  /** Returns the counter of the events that were dropped for a reason. */
  public SingleWriterCounter drops(DropReason reason) {
    SingleWriterCounter counter = drops.get(reason);
    if (counter == null) {
      throw new IllegalStateException("no counter for " + reason);
    }
    return counter;
  }
}
