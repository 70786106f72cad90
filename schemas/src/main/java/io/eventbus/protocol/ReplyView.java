package io.eventbus.protocol;

import java.nio.ByteBuffer;

/**
 * View of a {@code Reply} in place: the positions of its parts, each of which is well formed.
 *
 * <p>For one thread; reused, so that reading allocates nothing. Valid until the buffer changes.
 */
public final class ReplyView {
  private final BodyReader in = new BodyReader();
  private final EventCursor event = new EventCursor();
  private long call;
  private long member;
  private int queuedMicros;
  private int handledMicros;
  private int tailStart;
  private long schema;
  private boolean more;
  private long limit;

  /** Creates an empty view. */
  public ReplyView() {}

  /**
   * Reads and checks a whole body. Bytes behind the limit are a later version's, and ignored.
   *
   * @param buffer holds the body of the frame
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @param limits the limits of the event
   * @throws MalformedFrameException if anything is malformed ({@link
   *     MalformedFrameException#isTooBig} tells which kind); if something exceeds a limit, {@link
   *     #call} is set
   */
  public void read(ByteBuffer buffer, int from, int to, FrameLimits limits) {
    in.wrap(buffer, from, to);
    call = in.readLong("Reply.call");
    member = in.readLong("Reply.member");
    queuedMicros = in.readCount("Reply.queuedMicros");
    handledMicros = in.readCount("Reply.handledMicros");
    tailStart = in.position();
    schema = in.readLong("Reply.schema");
    event.wrapOne(buffer, in.position(), to, limits, from);
    in.position(event.eventEnd());
    more = !in.atEnd() && in.readBoolean("Reply.more");
    limit = in.atEnd() ? 0 : in.readOffset("Reply.limit");
  }

  /**
   * Returns the number of the call.
   *
   * @return the caller's or the bus's, as the connection has it
   */
  public long call() {
    return call;
  }

  /**
   * Returns the member that has answered.
   *
   * @return its number, 0 on the way from the member
   */
  public long member() {
    return member;
  }

  /**
   * Returns how long the request waited in the bus.
   *
   * @return microseconds
   */
  public int queuedMicros() {
    return queuedMicros;
  }

  /**
   * Returns how long the member worked, by its own account.
   *
   * @return microseconds
   */
  public int handledMicros() {
    return handledMicros;
  }

  /**
   * Returns the start of schema and event, which a bus forwards unchanged.
   *
   * @return an index into the buffer
   */
  public int tailStart() {
    return tailStart;
  }

  /**
   * Returns the length of schema and event.
   *
   * @return bytes
   */
  public int tailLength() {
    return event.eventEnd() - tailStart;
  }

  /**
   * Returns the fingerprint of the payload's schema.
   *
   * @return CRC-64-AVRO, or 0 for none
   */
  public long schema() {
    return schema;
  }

  /**
   * Returns the start of the event.
   *
   * @return an index into the buffer
   */
  public int eventStart() {
    return event.eventStart();
  }

  /**
   * Returns the length of the event.
   *
   * @return bytes with everything in it
   */
  public int eventLength() {
    return event.eventEnd() - event.eventStart();
  }

  /**
   * Returns how much Data its receiver may send at first.
   *
   * @return as {@code Credit.limit}, 0 for none
   */
  public long limit() {
    return limit;
  }

  /**
   * Returns the event.
   *
   * @return the cursor that stands on it
   */
  public EventCursor event() {
    return event;
  }

  /**
   * Returns whether further answers to the request come.
   *
   * @return false for the last one, and on the way from the member
   */
  public boolean more() {
    return more;
  }
}
