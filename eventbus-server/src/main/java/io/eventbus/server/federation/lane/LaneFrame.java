package io.eventbus.server.federation.lane;

import io.eventbus.link.stream.StreamFrame;
import io.eventbus.server.delivery.Delivery;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Frame that a lane keeps until it is acknowledged. Confined to the loop of the lane. */
final class LaneFrame implements StreamFrame {
  private final Lane lane;
  private final Delivery delivery;
  private LanePath path;
  private int headBytes;
  private @Nullable FrameToken token;

  /** Creates a frame, which owns its delivery. */
  LaneFrame(Lane lane, Delivery delivery, LanePath path, @Nullable FrameToken token) {
    this.lane = lane;
    this.delivery = delivery;
    this.path = path;
    this.headBytes = path.headBytes(delivery);
    this.token = token;
  }

  Delivery delivery() {
    return delivery;
  }

  LanePath path() {
    return path;
  }

  void path(LanePath now) {
    path = now;
    headBytes = now.headBytes(delivery);
  }

  @Nullable FrameToken token() {
    return token;
  }

  @Override
  public long keptBytes() {
    return delivery.size();
  }

  @Override
  public int headBytes() {
    return headBytes;
  }

  @Override
  public int bodyBytes() {
    return delivery.frameBytes() + path.tail().length;
  }

  @Override
  public void writeHead(ByteBuf out, long nowNanos) {
    ByteBuffer scratch = lane.loop().scratch(path.maxHeadBytes());
    path.writeHead(scratch, delivery);
    out.writeBytes(scratch.flip());
  }

  @Override
  public void writeBody(ByteBuf out) {
    delivery.copyFrame(out);
    out.writeBytes(path.tail());
  }

  @Override
  public ByteBuf body() {
    ByteBuf body = delivery.slice(0);
    byte[] tail = path.tail();
    return tail.length == 0 ? body : Unpooled.wrappedBuffer(body, Unpooled.wrappedBuffer(tail));
  }

  @Override
  public void onAcknowledged() {
    FrameToken waits = token;
    if (waits != null) {
      token = null;
      waits.done(lane.loop());
    }
  }

  @Override
  public void release() {
    lane.countRelayed(path, -1);
    delivery.release();
    onAcknowledged();
  }
}
