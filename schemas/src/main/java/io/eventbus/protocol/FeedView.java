package io.eventbus.protocol;

import java.nio.ByteBuffer;

/**
 * View of a {@code Feed} in place: which positions it covers, and where its {@code Deliver} frames
 * are, which {@link FrameCursor} and {@link DeliverView} read.
 *
 * <p>For one thread; reused, so that reading allocates nothing. Valid until the buffer changes.
 */
public final class FeedView {
  private final BodyReader in = new BodyReader();
  private long id;
  private long from;
  private long to;
  private long head;
  private int framesStart;
  private int framesEnd;
  private int attempt;

  /** Creates an empty view. */
  public FeedView() {}

  /**
   * Reads and checks the body without the frames in it.
   *
   * @param buffer holds the body of the frame
   * @param start the index of its first byte
   * @param end the index after its last byte
   * @throws MalformedFrameException if anything is malformed
   */
  public void read(ByteBuffer buffer, int start, int end) {
    in.wrap(buffer, start, end);
    id = in.readLong("Feed.id");
    from = DurableFrames.readPosition(in, "Feed.from");
    to = DurableFrames.readEnd(in, "Feed.to", from - 1);
    head = DurableFrames.readEnd(in, "Feed.head", to);
    int length = in.readLength("Feed.frames", Integer.MAX_VALUE);
    framesStart = in.position();
    framesEnd = framesStart + length;
    in.position(framesEnd);
    attempt = in.atEnd() ? 0 : in.readCount("Feed.attempt");
  }

  /**
   * Returns the consumer.
   *
   * @return the id that the client gave to it
   */
  public long id() {
    return id;
  }

  /**
   * Returns the first position that the frame covers.
   *
   * @return 1 or more
   */
  public long from() {
    return from;
  }

  /**
   * Returns the last position that the frame covers.
   *
   * @return {@link #from} - 1 if it covers none
   */
  public long to() {
    return to;
  }

  /**
   * Returns the last position of the journal when the bus wrote the frame.
   *
   * @return {@link #to} or more
   */
  public long head() {
    return head;
  }

  /**
   * Returns the start of the frames.
   *
   * @return an index into the buffer
   */
  public int framesStart() {
    return framesStart;
  }

  /**
   * Returns the end of the frames.
   *
   * @return the index after their last byte
   */
  public int framesEnd() {
    return framesEnd;
  }

  /**
   * Returns the number of this delivery of each event.
   *
   * @return 1 or more for a shared subscription, else 0
   */
  public int attempt() {
    return attempt;
  }
}
