package io.eventbus.client.internal.call;

import java.nio.ByteBuffer;

/** Encoded frame for one connection. */
final class BytesFrame implements CallFrame {
  private final CallPath path;
  private final byte[] bytes;

  BytesFrame(CallPath path, byte[] bytes) {
    this.path = path;
    this.bytes = bytes;
  }

  @Override
  public CallPath path() {
    return path;
  }

  @Override
  public int cost() {
    return bytes.length;
  }

  @Override
  public int size(long nowNanos) {
    return bytes.length;
  }

  @Override
  public boolean write(ByteBuffer out, CallPath over) {
    out.put(bytes);
    return true;
  }
}
