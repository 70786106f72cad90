package io.eventbus.protocol;

import io.eventbus.schema.CallKind;
import io.eventbus.schema.CallPriority;
import io.eventbus.schema.CallScope;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * View of a {@code Request} in place: the positions of its parts, each of which is well formed.
 *
 * <p>For one thread; reused, so that reading allocates nothing. Valid until the buffer changes.
 */
public final class RequestView {
  private static final CallKind[] KINDS = CallKind.values();
  private static final CallScope[] SCOPES = CallScope.values();
  private static final CallPriority[] PRIORITIES = CallPriority.values();

  private final BodyReader in = new BodyReader();
  private final EventCursor event = new EventCursor();
  private ByteBuffer buf = ByteBuffer.allocate(0);
  private long call;
  private int serviceStart;
  private int serviceLength;
  private int methodStart;
  private int methodLength;
  private int kind;
  private int scope;
  private int priority;
  private int timeoutMillis;
  private int waitMillis;
  private boolean idempotent;
  private int attempt;
  private long member;
  private long schema;
  private long limit;

  /** Creates an empty view. */
  public RequestView() {}

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
    buf = buffer;
    in.wrap(buffer, from, to);
    call = 0;
    long number = in.readLong("Request.call");
    if (number < 1) {
      throw in.malformed("Request.call", from, number, "at least 1");
    }
    call = number;
    serviceLength = in.skipString("Request.service", Topic.MAX_BYTES);
    serviceStart = in.position() - serviceLength;
    methodLength = in.skipString("Request.method", FrameLimits.MAX_NAME_BYTES);
    methodStart = in.position() - methodLength;
    kind = in.readCount("Request.kind");
    scope = in.readCount("Request.scope");
    priority = in.readCount("Request.priority");
    timeoutMillis = in.readCount("Request.timeoutMillis");
    waitMillis = in.readCount("Request.waitMillis");
    idempotent = in.readBoolean("Request.idempotent");
    attempt = in.readCount("Request.attempt");
    member = in.readLong("Request.member");
    schema = in.readLong("Request.schema");
    event.wrapOne(buffer, in.position(), to, limits, from);
    in.position(event.eventEnd());
    limit = in.atEnd() ? 0 : in.readOffset("Request.limit");
  }

  /**
   * Returns the caller's number.
   *
   * @return 1 or more; 0 if it was not read
   */
  public long call() {
    return call;
  }

  /**
   * Returns the start of the bytes of the service's name.
   *
   * @return an index into the buffer
   */
  public int serviceStart() {
    return serviceStart;
  }

  /**
   * Returns the length of the service's name.
   *
   * @return bytes of UTF-8, which may be illegal as a name
   */
  public int serviceLength() {
    return serviceLength;
  }

  /**
   * Returns the service's name, which is valid UTF-8 but may be illegal as a name.
   *
   * @return a new string
   */
  public String service() {
    return Utf8.decode(buf, serviceStart, serviceStart + serviceLength);
  }

  /**
   * Returns the start of the bytes of the method.
   *
   * @return an index into the buffer
   */
  public int methodStart() {
    return methodStart;
  }

  /**
   * Returns the length of the method.
   *
   * @return bytes of UTF-8, 0 for none
   */
  public int methodLength() {
    return methodLength;
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
   * Returns how many members the call is for.
   *
   * @return the scope, or null for one that this version does not know
   */
  public @Nullable CallScope scope() {
    return scope < SCOPES.length ? SCOPES[scope] : null;
  }

  /**
   * Returns the priority of the call.
   *
   * @return the priority, or null for one that this version does not know
   */
  public @Nullable CallPriority priority() {
    return priority < PRIORITIES.length ? PRIORITIES[priority] : null;
  }

  /**
   * Returns how long the caller waits.
   *
   * @return milliseconds, 0 for the bus's default
   */
  public int timeoutMillis() {
    return timeoutMillis;
  }

  /**
   * Returns how long the bus waits for a member if there is none.
   *
   * @return milliseconds
   */
  public int waitMillis() {
    return waitMillis;
  }

  /**
   * Returns whether the call may be executed twice.
   *
   * @return true if it may
   */
  public boolean idempotent() {
    return idempotent;
  }

  /**
   * Returns how often the caller has sent this request before.
   *
   * @return 0 for the first time
   */
  public int attempt() {
    return attempt;
  }

  /**
   * Returns the only member that may be called.
   *
   * @return its number, 0 for any
   */
  public long member() {
    return member;
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
