package io.eventbus.protocol;

import java.nio.ByteBuffer;

/**
 * Writer of {@code Data} and {@code Credit} at the position of a buffer that the caller provides,
 * so that writing allocates nothing. Stateless; any thread.
 */
public final class TunnelFrames {
  /** Maximum payload of one {@code Data}, in bytes. */
  public static final int MAX_PAYLOAD = 64 * 1024;

  /**
   * Bytes that a {@code Data} counts for beside its payload in offsets and limits, so that the cost
   * of frames is bounded as well as their content.
   */
  public static final int FRAME_COST = 64;

  /**
   * Maximum number of bytes of a {@code Data} before its payload, and of a whole {@code Credit}.
   */
  public static final int MAX_HEAD = 5 * Varint.MAX_BYTES + 2;

  private TunnelFrames() {}

  /**
   * Returns the bytes that a {@code Data} counts for.
   *
   * @param payloadLength bytes of its payload
   * @return bytes
   */
  public static int cost(int payloadLength) {
    return payloadLength + FRAME_COST;
  }

  /**
   * Measures a {@code Data}.
   *
   * @param call the number that the receiver knows the call by
   * @param offset its position among all of its direction
   * @param payloadLength bytes of the payload
   * @return bytes of the frame
   */
  public static int dataSize(long call, long offset, int payloadLength) {
    int body = dataBodySize(call, offset, payloadLength);
    return Frames.headSize(TypeCode.DATA, body) + body;
  }

  private static int dataBodySize(long call, long offset, int payloadLength) {
    return Varint.size(call) + Varint.size(offset) + 2 + Varint.size(payloadLength) + payloadLength;
  }

  /**
   * Writes the part before the payload of a {@code Data}.
   *
   * @param out has room for {@link #dataSize} bytes, less the payload, at its position
   * @param call the number that the receiver knows the call by
   * @param offset its position among all of its direction
   * @param more whether the message goes on in the next frame
   * @param last whether nothing follows in this direction
   * @param payloadLength bytes of the payload, which has to follow
   */
  public static void writeDataHead(
      ByteBuffer out, long call, long offset, boolean more, boolean last, int payloadLength) {
    Frames.writeHead(out, TypeCode.DATA, dataBodySize(call, offset, payloadLength));
    Varint.write(out, call);
    Varint.write(out, offset);
    out.put((byte) (more ? 1 : 0));
    out.put((byte) (last ? 1 : 0));
    Varint.write(out, payloadLength);
  }

  /**
   * Writes a {@code Credit}.
   *
   * @param out has room for {@link #MAX_HEAD} bytes at its position
   * @param call the number that the receiver knows the call by
   * @param limit how far Data may go
   * @param received how far it was received
   */
  public static void writeCredit(ByteBuffer out, long call, long limit, long received) {
    int body = Varint.size(call) + Varint.size(limit) + Varint.size(received);
    Frames.writeHead(out, TypeCode.CREDIT, body);
    Varint.write(out, call);
    Varint.write(out, limit);
    Varint.write(out, received);
  }
}
