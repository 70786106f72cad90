package io.eventbus.protocol;

import java.nio.ByteBuffer;

/**
 * View of a message of a stream in place: a schema and an event, as at the end of a {@code Reply}.
 *
 * <p>For one thread; reused. Valid until the buffer changes.
 */
public final class ItemView {
  private final BodyReader in = new BodyReader();
  private final EventCursor event = new EventCursor();
  private long schema;

  /** Creates an empty view. */
  public ItemView() {}

  /**
   * Reads and checks a whole message. Bytes behind the event are a later version's, and ignored.
   *
   * @param buffer holds the message
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @param limits the limits of the event
   * @throws MalformedFrameException if anything is malformed or exceeds a limit
   */
  public void read(ByteBuffer buffer, int from, int to, FrameLimits limits) {
    in.wrap(buffer, from, to);
    schema = in.readLong("schema");
    event.wrapOne(buffer, in.position(), to, limits, from);
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
   * Returns the event.
   *
   * @return the cursor that stands on it
   */
  public EventCursor event() {
    return event;
  }
}
