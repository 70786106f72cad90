package io.eventbus.server.transport;

import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.queue.OutboundQueue;
import io.eventbus.server.samples.SampleFrames;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Connection that has a queue and no session. */
public final class QueueHandler implements MessageHandler {
  public final OutboundQueue queue;
  public final List<String> tooSlow = new ArrayList<>();
  public final List<String> stalledTooLong = new ArrayList<>();
  private final Wire wire;
  int closed;

  QueueHandler(Wire wire, WebSocketConnection connection) {
    this.wire = wire;
    queue =
        new OutboundQueue(
            wire.loop.queues(),
            connection,
            () -> "",
            why -> {
              tooSlow.add(why);
              connection.close(io.eventbus.protocol.CloseReason.SLOW_CONSUMER, why);
            },
            stalledTooLong::add);
  }

  /** Offers events of topic {@code t}, producer 3, each with a key of its own. */
  public void offer(long first, int events, int bytes, Overflow overflow) {
    for (long sequence = first; sequence < first + events; sequence++) {
      Delivery d =
          SampleFrames.delivery(
              wire.allocator,
              wire.memory,
              "t",
              3,
              sequence,
              System.nanoTime(),
              List.of(new SampleFrames.Event("k" + sequence, "x".repeat(bytes))));
      queue.offer(d, overflow);
      d.release();
    }
  }

  @Override
  public boolean acceptsText() {
    return false;
  }

  @Override
  public int maxMessageBytes() {
    return 1 << 20;
  }

  @Override
  public int onMessage(
      ByteBuffer message, int from, int to, boolean text, long nowNanos, Runnable retry) {
    return to;
  }

  @Override
  public void onWritable() {
    queue.drain();
  }

  @Override
  public boolean onTick(long nowNanos) {
    queue.onTick(nowNanos);
    return false;
  }

  @Override
  public long queuedBytes() {
    return queue.bytes();
  }

  @Override
  public void onShutdown() {}

  @Override
  public void onClosed() {
    closed++;
    queue.close();
  }
}
