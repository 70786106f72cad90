package io.eventbus.server.transport;

/** Handler that only receives messages. */
abstract class InboundOnly implements MessageHandler {
  @Override
  public int maxMessageBytes() {
    return 1 << 20;
  }

  @Override
  public void onWritable() {}

  @Override
  public boolean onTick(long nowNanos) {
    return true;
  }

  @Override
  public long queuedBytes() {
    return 0;
  }

  @Override
  public void onShutdown() {}

  @Override
  public void onClosed() {}
}
