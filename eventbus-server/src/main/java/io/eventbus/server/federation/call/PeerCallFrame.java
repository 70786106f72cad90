package io.eventbus.server.federation.call;

import io.eventbus.link.stream.StreamFrame;
import io.eventbus.server.call.MemberInvocation;
import io.eventbus.server.call.ServiceKey;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.federation.protocol.BusCallFrames;
import io.eventbus.server.memory.BusMemory;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Frame of a stream of calls. All its bytes count as the bus's memory. Confined to the loop of its
 * stream.
 *
 * @param head bytes before the body; of a call, those after the remaining time
 * @param held body; null for none
 * @param index of a call, the number of calls added before it; else -1
 * @param number of the call
 */
@SuppressWarnings("ArrayRecordComponent")
record PeerCallFrame(
    BusMemory memory,
    byte[] head,
    @Nullable Delivery held,
    long index,
    long number,
    long deadlineNanos)
    implements StreamFrame {
  /** Estimated bytes of a frame in addition to its content. */
  private static final int OVERHEAD = 96;

  PeerCallFrame {
    memory.reserve(OVERHEAD + head.length);
    if (held != null) {
      held.retain();
    }
  }

  /**
   * Creates a frame that is no call.
   *
   * @param head bytes before the body
   * @param body last field; null for none
   */
  static PeerCallFrame of(BusMemory memory, byte[] head, @Nullable Delivery body) {
    return new PeerCallFrame(memory, head, body, -1, 0, 0);
  }

  /**
   * Creates a call.
   *
   * @param before number of calls added before it
   */
  static PeerCallFrame of(BusMemory memory, MemberInvocation i, ServiceKey service, long before) {
    byte[] head =
        BusCallFrames.callHead(
            i.call(),
            i.waiting(),
            i.isReturnable(),
            i.priority(),
            i.isIdempotent(),
            i.attempt(),
            i.onlyMember(),
            i.caller().producer(),
            i.request(),
            i.caller().identity(),
            service.account(),
            i.receivedAt(),
            i.schema(),
            service.name(),
            i.methodLength());
    return new PeerCallFrame(memory, head, i.body(), before, i.call(), i.deadlineNanos());
  }

  boolean isCall() {
    return index >= 0;
  }

  @Override
  public long keptBytes() {
    Delivery body = held;
    return (long) OVERHEAD + head.length + (body == null ? 0 : body.size());
  }

  @Override
  public int headBytes() {
    return isCall()
        ? BusCallFrames.callStartSize(Integer.MAX_VALUE, head, bodyBytes())
        : head.length;
  }

  @Override
  public int bodyBytes() {
    Delivery body = held;
    return body == null ? 0 : body.frameBytes();
  }

  @Override
  public void writeHead(ByteBuf out, long nowNanos) {
    if (!isCall()) {
      out.writeBytes(head);
      return;
    }
    // The remaining time may be less than when it was sent before.
    long left = (deadlineNanos - nowNanos) / 1_000_000;
    int timeout = (int) Math.max(1, Math.min(Integer.MAX_VALUE, left));
    ByteBuffer start = ByteBuffer.allocate(BusCallFrames.callStartSize(timeout, head, bodyBytes()));
    BusCallFrames.writeCallStart(start, timeout, head, bodyBytes());
    out.writeBytes(start.flip());
  }

  @Override
  public void writeBody(ByteBuf out) {
    Delivery body = held;
    if (body != null) {
      body.copyFrame(out);
    }
  }

  @Override
  public ByteBuf body() {
    Delivery body = held;
    if (body == null) {
      throw new IllegalStateException("a frame without a body");
    }
    return body.slice(0);
  }

  @Override
  public boolean isExpired(long nowNanos) {
    return isCall() && deadlineNanos - nowNanos <= 0;
  }

  @Override
  public void release() {
    memory.release(OVERHEAD + head.length);
    Delivery body = held;
    if (body != null) {
      body.release();
    }
  }
}
