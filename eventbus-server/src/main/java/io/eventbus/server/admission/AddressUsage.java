package io.eventbus.server.admission;

import io.eventbus.base.TokenBucket;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Use of the clients of one address together. The counts of connections are read and changed while
 * the entry of {@link AddressUsages} is locked, the others by any thread.
 */
final class AddressUsage {
  final TokenBucket rate;
  final AtomicLong held = new AtomicLong();
  final AtomicLong subscriptionBytes = new AtomicLong();
  final AtomicLong interest = new AtomicLong();
  final AtomicLong serviceBytes = new AtomicLong();
  int connections;
  int handshakes;

  /** Set if it is among the lingering ones, whose rate is remembered. */
  boolean lingers;

  AddressUsage(TokenBucket rate) {
    this.rate = rate;
  }

  void enter(long nowNanos) {
    rate.take(1, nowNanos);
    connections++;
    handshakes++;
  }

  boolean isForgettable(long nowNanos) {
    return connections == 0 && rate.isFull(nowNanos);
  }
}
