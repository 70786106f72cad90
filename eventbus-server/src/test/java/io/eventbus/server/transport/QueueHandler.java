package io.eventbus.server.transport;

import io.eventbus.server.queue.OutboundQueue;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Connection that has a queue and no session. */
public final class QueueHandler implements MessageHandler {
  public final OutboundQueue queue;
  public final List<String> tooSlow = new ArrayList<>();
  public final List<String> stalledTooLong = new ArrayList<>();
  int closed;

  QueueHandler(Wire wire, WebSocketConnection connection) {
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
