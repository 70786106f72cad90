package io.eventbus.protocol;

import io.eventbus.schema.CallKind;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * View of an {@code Invoke} in place: the positions of its parts, each of which is well formed.
 *
 * <p>For one thread; reused, so that reading allocates nothing. Valid until the buffer changes.
 */
public final class InvokeView {
  private static final CallKind[] KINDS = CallKind.values();

  private final BodyReader in = new BodyReader();
  private final EventCursor event = new EventCursor();
  private ByteBuffer buf = ByteBuffer.allocate(0);
  private long call;
  private long service;
  private int methodStart;
  private int methodLength;
  private int kind;
  private int timeoutMillis;
  private long caller;
  private long request;
  private int attempt;
  private int identityStart;
  private int identityLength;
  private long receivedAt;
  private long schema;
  private long limit;

  /** Creates an empty view. */
  public InvokeView() {}

  /**
   * Reads and checks a whole body. Bytes behind the limit are a later version's, and ignored.
   *
   * @param buffer holds the body of the frame
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @param limits the limits of the event
   * @throws MalformedFrameException if anything is malformed or exceeds a limit
   */
  public void read(ByteBuffer buffer, int from, int to, FrameLimits limits) {
    buf = buffer;
    in.wrap(buffer, from, to);
    call = in.readLong("Invoke.call");
    service = in.readLong("Invoke.service");
    methodLength = in.skipString("Invoke.method", FrameLimits.MAX_NAME_BYTES);
    methodStart = in.position() - methodLength;
    kind = in.readCount("Invoke.kind");
    timeoutMillis = in.readCount("Invoke.timeoutMillis");
    caller = in.readLong("Invoke.caller");
    request = in.readLong("Invoke.request");
    attempt = in.readCount("Invoke.attempt");
    identityLength = in.skipString("Invoke.identity", FrameLimits.MAX_IDENTITY_BYTES);
    identityStart = in.position() - identityLength;
    receivedAt = in.readLong("Invoke.receivedAt");
    schema = in.readLong("Invoke.schema");
    event.wrapOne(buffer, in.position(), to, limits, from);
    in.position(event.eventEnd());
    limit = in.atEnd() ? 0 : in.readOffset("Invoke.limit");
  }

  /**
   * Returns the bus's number of the call.
   *
   * @return a number, negative on connections to buses
   */
  public long call() {
    return call;
  }

  /**
   * Returns the id of the called service on the connection.
   *
   * @return {@code Register.id}
   */
  public long service() {
    return service;
  }

  /**
   * Returns the method.
   *
   * @return a new string, empty for none
   */
  public String method() {
    return Utf8.decode(buf, methodStart, methodStart + methodLength);
  }

  /**
   * Returns how the call is to be answered.
   *
   * @return the kind, or null for one that this version does not know
   */
  public @Nullable CallKind kind() {
    return kind < KINDS.length ? KINDS[kind] : null;
  }

  /**
   * Returns the time for which the caller still waits.
   *
   * @return milliseconds from the receipt
   */
  public int timeoutMillis() {
    return timeoutMillis;
  }

  /**
   * Returns the caller.
   *
   * @return the caller's producer number
   */
  public long caller() {
    return caller;
  }

  /**
   * Returns the number of the request among the caller's.
   *
   * @return the caller's own number of the call
   */
  public long request() {
    return request;
  }

  /**
   * Returns how often this request was sent or given to a member before.
   *
   * @return 0 for the first time
   */
  public int attempt() {
    return attempt;
  }

  /**
   * Returns the authenticated name of the caller.
   *
   * @return a new string, empty if the service did not ask for it or the caller has none
   */
  public String identity() {
    return Utf8.decode(buf, identityStart, identityStart + identityLength);
  }

  /**
   * Returns the time when the caller's bus received the request.
   *
   * @return microseconds since the epoch, by that bus's clock
   */
  public long receivedAt() {
    return receivedAt;
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
}
