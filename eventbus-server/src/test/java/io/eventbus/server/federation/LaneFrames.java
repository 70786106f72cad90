package io.eventbus.server.federation;

import io.eventbus.protocol.FrameCursor;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.eventbus.server.federation.schema.LaneHello;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Frames of lanes, written and read. */
public final class LaneFrames {
  private LaneFrames() {}

  public static byte[] hello(int lane, long next) {
    return PeerFrames.encode(PeerFrames.LANE_HELLO, new LaneHello(lane, 1, 0, next));
  }

  public static byte[] number(int typeCode, long value) {
    return PeerFrames.encode(typeCode, value);
  }

  public static byte[] forward(Delivery delivery, int... targets) {
    byte[] head = PeerFrames.forwardHead(1, true, List.of(), targets, new int[0], List.of());
    int size = delivery.frameBytes();
    ByteBuffer frame = ByteBuffer.allocate(PeerFrames.forwardHeadSize(head, size, 0) + size);
    PeerFrames.writeForwardHead(frame, head, size, 0);
    return frame.put(delivery.frame()).array();
  }

  public static ByteBuf of(byte[]... frames) {
    return Unpooled.wrappedBuffer(frames);
  }

  /**
   * Returns the frames written since the last call: the type code of each frame, and its number if
   * any.
   */
  public static List<String> written(EmbeddedChannel channel) {
    channel.flushOutbound();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
      byte[] some = new byte[out.readableBytes()];
      out.readBytes(some).release();
      bytes.writeBytes(some);
    }
    ByteBuffer all = ByteBuffer.wrap(bytes.toByteArray());
    FrameCursor frames = new FrameCursor().wrap(all, 0, all.limit());
    List<String> found = new ArrayList<>();
    while (frames.next()) {
      int from = frames.bodyStart();
      int to = frames.bodyEnd();
      found.add(
          switch (frames.typeCode()) {
            case PeerFrames.LANE_HELLO -> "hello " + PeerFrames.laneHello(all, from, to).getNext();
            case PeerFrames.LANE_WELCOME -> "welcome " + PeerFrames.number(all, from, to);
            case PeerFrames.LANE_ACK -> "ack " + PeerFrames.number(all, from, to);
            case PeerFrames.LANE_ACK_RANGE -> {
              long[] range = PeerFrames.numbers(all, from, to);
              yield "ack " + range[0] + " to " + range[1];
            }
            case PeerFrames.SYNC -> "sync " + PeerFrames.number(all, from, to);
            case PeerFrames.SYNCED -> "synced " + PeerFrames.number(all, from, to);
            case PeerFrames.FORWARD -> "forward";
            case PeerFrames.INTEREST -> "interest";
            case PeerFrames.INTEREST_APPLIED -> "applied " + PeerFrames.number(all, from, to);
            default -> "type " + frames.typeCode();
          });
    }
    return found;
  }
}
