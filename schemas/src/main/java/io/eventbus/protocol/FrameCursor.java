package io.eventbus.protocol;

import java.nio.ByteBuffer;

/**
 * Cursor over the frames of one WebSocket message: {@code record Frame { int typeCode; bytes body;
 * }}, back to back.
 *
 * <p>Positions are absolute and the buffer's own position is not touched. For one thread; reused by
 * {@link #wrap}, so that reading allocates nothing.
 */
public final class FrameCursor {
  private final BodyReader in = new BodyReader();
  private int frameStart;
  private int typeCode;
  private int bodyStart;
  private int bodyEnd;
  private int end;

  /** Creates an empty cursor. */
  public FrameCursor() {}

  /**
   * Starts at the first frame of a message.
   *
   * @param message a buffer that holds the message
   * @param from the index of the first byte of the message
   * @param to the index after its last byte
   * @return this cursor, before the first frame
   */
  public FrameCursor wrap(ByteBuffer message, int from, int to) {
    in.wrap(message, from, to);
    end = to;
    bodyEnd = from;
    typeCode = -1;
    return this;
  }

  /**
   * Moves to the next frame.
   *
   * @return false when the message has no more
   * @throws MalformedFrameException if the head of the frame is broken or its body goes past the
   *     message
   */
  public boolean next() {
    if (bodyEnd >= end) {
      return false;
    }
    frameStart = bodyEnd;
    in.position(bodyEnd);
    typeCode = -1;
    typeCode = in.readInt("Frame.typeCode");
    int length = in.readLength("Frame.body", Integer.MAX_VALUE);
    bodyStart = in.position();
    bodyEnd = bodyStart + length;
    return true;
  }

  /**
   * Returns the number of the frame's type, known or not.
   *
   * @return any integer; -1 before the first frame, and where it could not be read
   */
  public int typeCode() {
    return typeCode;
  }

  /**
   * Returns the start of the frame.
   *
   * @return an index into the wrapped buffer
   */
  public int frameStart() {
    return frameStart;
  }

  /**
   * Returns the start of the body.
   *
   * @return an index into the wrapped buffer
   */
  public int bodyStart() {
    return bodyStart;
  }

  /**
   * Returns the end of the body, and with it of the frame.
   *
   * @return the index after the last byte
   */
  public int bodyEnd() {
    return bodyEnd;
  }
}
