package io.eventbus.protocol;

import java.nio.ByteBuffer;

/**
 * View of a {@code Data} or a {@code Credit} in place: the positions of its parts, each of which is
 * well formed.
 *
 * <p>For one thread; reused, so that reading allocates nothing. Valid until the buffer changes.
 */
public final class DataView {
  private final BodyReader in = new BodyReader();
  private long call;
  private long offset;
  private long received;
  private long consumer;
  private boolean more;
  private boolean last;
  private int payloadStart;
  private int payloadLength;

  /** Creates an empty view. */
  public DataView() {}

  /**
   * Reads and checks the whole body of a {@code Data}.
   *
   * @param buffer holds the body of the frame
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @throws MalformedFrameException if anything is malformed; if its payload is longer than {@link
   *     TunnelFrames#MAX_PAYLOAD}, {@link MalformedFrameException#isTooBig} is true and {@link
   *     #call} is set
   */
  public void read(ByteBuffer buffer, int from, int to) {
    in.wrap(buffer, from, to);
    call = in.readLong("Data.call");
    offset = in.readOffset("Data.offset");
    more = in.readBoolean("Data.more");
    last = in.readBoolean("Data.last");
    payloadLength = in.readLength("Data.payload", TunnelFrames.MAX_PAYLOAD);
    payloadStart = in.position();
  }

  /**
   * Reads and checks the whole body of a {@code Credit}.
   *
   * @param buffer holds the body of the frame
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @throws MalformedFrameException if anything is malformed
   */
  public void readCredit(ByteBuffer buffer, int from, int to) {
    in.wrap(buffer, from, to);
    call = in.readLong("Credit.call");
    offset = in.readOffset("Credit.limit");
    received = in.readOffset("Credit.received");
    consumer = in.atEnd() ? 0 : in.readLong("Credit.consumer");
  }

  /**
   * Returns the number of the call.
   *
   * @return the caller's or the bus's, as the connection has it; 0 in a {@code Credit} for all
   *     deliveries
   */
  public long call() {
    return call;
  }

  /**
   * Returns the position of the frame among all of its direction.
   *
   * @return bytes before it, with 64 for each frame
   */
  public long offset() {
    return offset;
  }

  /**
   * Returns the limit of a {@code Credit}.
   *
   * @return bytes since the start
   */
  public long limit() {
    return offset;
  }

  /**
   * Returns the consumer that a {@code Credit} is about.
   *
   * @return the client's number; 0 for none
   */
  public long consumer() {
    return consumer;
  }

  /**
   * Returns how much the sender of a {@code Credit} has received.
   *
   * @return bytes since the start
   */
  public long received() {
    return received;
  }

  /**
   * Returns whether the message goes on in the next frame.
   *
   * @return true if it does
   */
  public boolean more() {
    return more;
  }

  /**
   * Returns whether nothing follows in this direction.
   *
   * @return true if nothing does
   */
  public boolean last() {
    return last;
  }

  /**
   * Returns the position of the payload.
   *
   * @return an index into the buffer
   */
  public int payloadStart() {
    return payloadStart;
  }

  /**
   * Returns the length of the payload.
   *
   * @return bytes, at most {@link TunnelFrames#MAX_PAYLOAD}
   */
  public int payloadLength() {
    return payloadLength;
  }
}
