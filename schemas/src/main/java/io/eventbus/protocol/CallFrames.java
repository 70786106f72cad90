package io.eventbus.protocol;

import io.eventbus.schema.CallKind;
import io.eventbus.schema.CallPriority;
import io.eventbus.schema.CallScope;
import java.nio.ByteBuffer;

/**
 * Writer of the frames of calls that end with an event: {@code Request}, {@code Invoke} and {@code
 * Reply}.
 *
 * <p>The part before the event is measured first and then written at the position of a buffer that
 * the caller provides, so that writing allocates nothing; the event follows, as {@link
 * Frames#writeEvent} writes it or as it was received. The event is the end of the frame, but for a
 * {@code Reply}, which says behind it whether more come. Stateless; any thread.
 */
public final class CallFrames {
  /**
   * Maximum number of bytes before the event: two integers for the frame, at most thirteen fields,
   * and texts.
   */
  public static final int MAX_HEAD =
      15 * Varint.MAX_BYTES
          + ServiceName.MAX_BYTES
          + FrameLimits.MAX_NAME_BYTES
          + FrameLimits.MAX_IDENTITY_BYTES;

  // The number of the symbol.
  private static final int SCOPE_ONE = 0;
  private static final int SCOPE_ALL = 1;

  private static final int MORE_BYTES = 1;

  private CallFrames() {}

  /** Part before the event in a {@code Request}, for one reply of each member. Immutable. */
  public static final class RequestHead {
    private final long call;
    private final byte[] service;
    private final byte[] method;
    private final int scope;
    private final int priority;
    private final int timeoutMillis;
    private final int waitMillis;
    private final boolean idempotent;
    private final int attempt;
    private final long member;
    private final long schema;
    private final CallKind kind;
    private final long limit;

    /**
     * Creates the head of a call for one reply.
     *
     * @param call the caller's number, at least 1
     * @param service the service's name in UTF-8, at most {@link ServiceName#MAX_BYTES} bytes; not
     *     copied
     * @param method the requested method in UTF-8, at most {@link FrameLimits#MAX_NAME_BYTES}
     *     bytes; not copied
     * @param scope for one member or for all
     * @param priority its priority
     * @param timeoutMillis how long the caller waits, 0 for the bus's default
     * @param waitMillis how long the bus waits for a member
     * @param idempotent whether the call may be executed twice
     * @param attempt how often the caller has sent it before
     * @param member the only member to call, 0 for any
     * @param schema fingerprint, 0 for none
     */
    public RequestHead(
        long call,
        byte[] service,
        byte[] method,
        CallScope scope,
        CallPriority priority,
        int timeoutMillis,
        int waitMillis,
        boolean idempotent,
        int attempt,
        long member,
        long schema) {
      this(
          CallKind.REPLY,
          0,
          call,
          service,
          method,
          scope,
          priority,
          timeoutMillis,
          waitMillis,
          idempotent,
          attempt,
          member,
          schema);
    }

    /**
     * Creates the head of a call of any kind.
     *
     * @param kind how it is to be answered
     * @param limit how much Data the caller accepts at first; 0 for one reply
     * @param call the caller's number, at least 1
     * @param service the service's name in UTF-8, as above
     * @param method the requested method in UTF-8, as above
     * @param scope for one member or for all
     * @param priority its priority
     * @param timeoutMillis how long the caller waits, 0 for the bus's default
     * @param waitMillis how long the bus waits for a member
     * @param idempotent whether the call may be executed twice
     * @param attempt how often the caller has sent it before
     * @param member the only member to call, 0 for any
     * @param schema fingerprint, 0 for none
     */
    public RequestHead(
        CallKind kind,
        long limit,
        long call,
        byte[] service,
        byte[] method,
        CallScope scope,
        CallPriority priority,
        int timeoutMillis,
        int waitMillis,
        boolean idempotent,
        int attempt,
        long member,
        long schema) {
      this.kind = kind;
      this.limit = limit;
      this.call = call;
      this.service = service;
      this.method = method;
      this.scope = scope == CallScope.ALL ? SCOPE_ALL : SCOPE_ONE;
      this.priority =
          switch (priority) {
            case NORMAL -> 0;
            case HIGH -> 1;
            case LOW -> 2;
          };
      this.timeoutMillis = timeoutMillis;
      this.waitMillis = waitMillis;
      this.idempotent = idempotent;
      this.attempt = attempt;
      this.member = member;
      this.schema = schema;
    }

    /**
     * Measures the frame.
     *
     * @param eventBytes bytes of the event
     * @return bytes of the frame, the event included
     */
    public int size(int eventBytes) {
      int body = bodySize(eventBytes);
      return Frames.headSize(TypeCode.REQUEST, body) + body;
    }

    private int bodySize(int eventBytes) {
      return Varint.size(call)
          + Varint.size(service.length)
          + service.length
          + Varint.size(method.length)
          + method.length
          // kind, scope, priority and idempotent
          + 4
          + Varint.size(timeoutMillis)
          + Varint.size(waitMillis)
          + Varint.size(attempt)
          + Varint.size(member)
          + Varint.size(schema)
          + eventBytes
          + limitSize(limit);
    }

    /**
     * Writes the part before the event.
     *
     * @param out has room for {@link #size} bytes, less those of the event, at its position
     * @param eventBytes bytes of the event, which has to follow, and {@link #writeEnd} behind it
     */
    public void write(ByteBuffer out, int eventBytes) {
      Frames.writeHead(out, TypeCode.REQUEST, bodySize(eventBytes));
      Varint.write(out, call);
      Varint.write(out, service.length);
      out.put(service);
      Varint.write(out, method.length);
      out.put(method);
      Varint.write(out, kindNumber(kind));
      Varint.write(out, scope);
      Varint.write(out, priority);
      Varint.write(out, timeoutMillis);
      Varint.write(out, waitMillis);
      out.put((byte) (idempotent ? 1 : 0));
      Varint.write(out, attempt);
      Varint.write(out, member);
      Varint.write(out, schema);
    }

    /**
     * Writes the part behind the event: the limit.
     *
     * @param out the destination, written at its position
     */
    public void writeEnd(ByteBuffer out) {
      writeLimit(out, limit);
    }
  }

  private static int kindNumber(CallKind kind) {
    return switch (kind) {
      case REPLY -> 0;
      case STREAM -> 1;
      case TUNNEL -> 2;
    };
  }

  /**
   * Measures the limit at the end of a {@code Request}, {@code Invoke} or {@code Reply}.
   *
   * @param limit the limit, 0 for one reply
   * @return bytes
   */
  public static int limitSize(long limit) {
    return Varint.size(limit);
  }

  /**
   * Writes the limit of a {@code Request}, {@code Invoke} or {@code Reply}, behind the event.
   *
   * @param out has room for {@link #limitSize} bytes at its position
   * @param limit the limit, 0 for one reply
   */
  public static void writeLimit(ByteBuffer out, long limit) {
    Varint.write(out, limit);
  }

  /**
   * Measures the body of an {@code Invoke}, but for its limit.
   *
   * @param call the bus's number
   * @param service {@code Register.id}
   * @param methodLength bytes of the method
   * @param timeoutMillis the rest of the caller's time
   * @param caller the caller's producer number
   * @param request the caller's number
   * @param attempt how often the request was sent or given to a member before
   * @param identity the caller's name in UTF-8, at most {@link FrameLimits#MAX_IDENTITY_BYTES}
   *     bytes
   * @param receivedAt microseconds since the epoch
   * @param schema fingerprint, 0 for none
   * @param eventBytes bytes of the event
   * @return bytes of the body, method and event included
   */
  public static int invokeBodySize(
      long call,
      long service,
      int methodLength,
      int timeoutMillis,
      long caller,
      long request,
      int attempt,
      byte[] identity,
      long receivedAt,
      long schema,
      int eventBytes) {
    return Varint.size(call)
        + Varint.size(service)
        + Varint.size(methodLength)
        + methodLength
        // kind
        + 1
        + Varint.size(timeoutMillis)
        + Varint.size(caller)
        + Varint.size(request)
        + Varint.size(attempt)
        + Varint.size(identity.length)
        + identity.length
        + Varint.size(receivedAt)
        + Varint.size(schema)
        + eventBytes;
  }

  /**
   * Measures an {@code Invoke}.
   *
   * @param bodySize bytes of the body
   * @return bytes of the frame
   */
  public static int invokeSize(int bodySize) {
    return Frames.headSize(TypeCode.INVOKE, bodySize) + bodySize;
  }

  /**
   * Writes the part before the method in an {@code Invoke}.
   *
   * @param out the destination, written at its position
   * @param bodySize as {@link #invokeBodySize} has measured it
   * @param call the bus's number
   * @param service {@code Register.id}
   * @param methodLength bytes of the method, which has to follow
   */
  public static void writeInvokeStart(
      ByteBuffer out, int bodySize, long call, long service, int methodLength) {
    Frames.writeHead(out, TypeCode.INVOKE, bodySize);
    Varint.write(out, call);
    Varint.write(out, service);
    Varint.write(out, methodLength);
  }

  /**
   * Writes the part between the method and the event in an {@code Invoke} for one reply.
   *
   * @param out the destination, written at its position
   * @param timeoutMillis the rest of the caller's time
   * @param caller the caller's producer number
   * @param request the caller's number
   * @param attempt how often the request was sent or given to a member before
   * @param identity the caller's name in UTF-8
   * @param receivedAt microseconds since the epoch
   * @param schema fingerprint, 0 for none
   */
  public static void writeInvokeRest(
      ByteBuffer out,
      int timeoutMillis,
      long caller,
      long request,
      int attempt,
      byte[] identity,
      long receivedAt,
      long schema) {
    writeInvokeRest(
        out, CallKind.REPLY, timeoutMillis, caller, request, attempt, identity, receivedAt, schema);
  }

  /**
   * Writes the part between the method and the event in an {@code Invoke}.
   *
   * @param out the destination, written at its position
   * @param kind how the call is to be answered
   * @param timeoutMillis the rest of the caller's time
   * @param caller the caller's producer number
   * @param request the caller's number
   * @param attempt how often the request was sent or given to a member before
   * @param identity the caller's name in UTF-8
   * @param receivedAt microseconds since the epoch
   * @param schema fingerprint, 0 for none
   */
  public static void writeInvokeRest(
      ByteBuffer out,
      CallKind kind,
      int timeoutMillis,
      long caller,
      long request,
      int attempt,
      byte[] identity,
      long receivedAt,
      long schema) {
    Varint.write(out, kindNumber(kind));
    Varint.write(out, timeoutMillis);
    Varint.write(out, caller);
    Varint.write(out, request);
    Varint.write(out, attempt);
    Varint.write(out, identity.length);
    out.put(identity);
    Varint.write(out, receivedAt);
    Varint.write(out, schema);
  }

  /**
   * Measures the end of a {@code Reply}: the schema and the event.
   *
   * @param schema fingerprint, 0 for none
   * @param eventBytes bytes of the event
   * @return bytes
   */
  public static int replyTailSize(long schema, int eventBytes) {
    return Varint.size(schema) + eventBytes;
  }

  /**
   * Measures a {@code Reply}.
   *
   * @param call the number that the receiver knows the call by
   * @param member the member that has answered; 0 on the way from the member
   * @param queuedMicros how long the request waited in the bus; 0 on the way from the member
   * @param handledMicros how long the member worked
   * @param tailBytes bytes of schema and event ({@link #replyTailSize}, {@link
   *     ReplyView#tailLength}) and of the limit ({@link #limitSize})
   * @return bytes of the frame
   */
  public static int replySize(
      long call, long member, int queuedMicros, int handledMicros, int tailBytes) {
    int body = replyBodySize(call, member, queuedMicros, handledMicros, tailBytes);
    return Frames.headSize(TypeCode.REPLY, body) + body;
  }

  private static int replyBodySize(
      long call, long member, int queuedMicros, int handledMicros, int tailBytes) {
    return Varint.size(call)
        + Varint.size(member)
        + Varint.size(queuedMicros)
        + Varint.size(handledMicros)
        + tailBytes
        + MORE_BYTES;
  }

  /**
   * Writes the part before schema and event in a {@code Reply}.
   *
   * @param out the destination, written at its position
   * @param call the number that the receiver knows the call by
   * @param member the member that has answered; 0 on the way from the member
   * @param queuedMicros how long the request waited in the bus; 0 on the way from the member
   * @param handledMicros how long the member worked
   * @param tailBytes bytes of schema, event and limit, which have to follow
   */
  public static void writeReplyHead(
      ByteBuffer out, long call, long member, int queuedMicros, int handledMicros, int tailBytes) {
    Frames.writeHead(
        out, TypeCode.REPLY, replyBodySize(call, member, queuedMicros, handledMicros, tailBytes));
    Varint.write(out, call);
    Varint.write(out, member);
    Varint.write(out, queuedMicros);
    Varint.write(out, handledMicros);
  }

  /**
   * Writes the part behind the event in a {@code Reply}.
   *
   * @param out has room for a byte and {@link #limitSize} at its position
   * @param more whether further answers to the request come
   * @param limit how much Data may be sent at first, 0 for one reply
   */
  public static void writeReplyEnd(ByteBuffer out, boolean more, long limit) {
    out.put((byte) (more ? 1 : 0));
    writeLimit(out, limit);
  }

  /**
   * Writes the schema of a {@code Reply}.
   *
   * @param out the destination, written at its position
   * @param schema fingerprint, 0 for none
   */
  public static void writeReplySchema(ByteBuffer out, long schema) {
    Varint.write(out, schema);
  }
}
