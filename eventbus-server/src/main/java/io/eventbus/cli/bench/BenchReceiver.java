package io.eventbus.cli.bench;

import io.eventbus.client.EventHandler;
import io.eventbus.client.ReceivedEvent;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.LongAdder;

/** Receiver of one subscriber's events: checks each, and times those of the measured part. */
final class BenchReceiver implements EventHandler {
  private final int payloadBytes;
  private final BenchLatencies latencies;
  private final NumberCheck numbers = new NumberCheck();
  private final LongAdder foreign = new LongAdder();

  BenchReceiver(int payloadBytes, BenchLatencies latencies) {
    this.payloadBytes = payloadBytes;
    this.latencies = latencies;
  }

  @Override
  public void onEvent(ReceivedEvent event) {
    long now = System.nanoTime();
    ByteBuffer payload = event.payloadBuffer();
    if (payload.remaining() != payloadBytes) {
      foreign.increment();
      return;
    }
    numbers.accept(payload.getLong(payload.position()));
    latencies.record(payload.getLong(payload.position() + Long.BYTES), now);
  }

  NumberCheck numbers() {
    return numbers;
  }

  /** Returns how many events came that were never sent. */
  long foreign() {
    return foreign.sum();
  }
}
