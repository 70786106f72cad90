package io.eventbus.protocol;

import io.eventbus.schema.CallPriority;
import io.eventbus.schema.CallScope;
import java.nio.ByteBuffer;

/**
 * Writes the frames of calls that end with an event: {@code Request}, {@code Invoke} and {@code
 * Reply}.
 *
 * <p>What comes before the event is measured first and then written at the position of a buffer
 * that the caller provides, so that writing allocates nothing; the event follows, as {@link
 * Frames#writeEvent} writes it or as it was received. The event is the end of the frame, but for a
 * {@code Reply}, which says behind it whether more come. Stateless; any thread.
 */
public final class CallFrames {
  /**
   * The most bytes that come before the event: two integers for the frame, at most twelve fields,
   * and texts.
   */
  public static final int MAX_HEAD =
      14 * Varint.MAX_BYTES
          + ServiceName.MAX_BYTES
          + FrameLimits.MAX_NAME_BYTES
          + FrameLimits.MAX_IDENTITY_BYTES;

  // The numbers of the symbols.
  private static final int KIND_REPLY = 0;
  private static final int SCOPE_ONE = 0;
  private static final int SCOPE_ALL = 1;

  private static final int MORE_BYTES = 1;

  private CallFrames() {}

  /** What comes before the event in a {@code Request}, for one reply of each member. Immutable. */
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

    /**
     * Makes a head.
     *
     * @param call the caller's number, at least 1
     * @param service the service's name in UTF-8, at most {@link ServiceName#MAX_BYTES} bytes; not
     *     copied
     * @param method what it is to do in UTF-8, at most {@link FrameLimits#MAX_NAME_BYTES} bytes;
     *     not copied
     * @param scope for one member or for all
     * @param priority how urgent it is
     * @param timeoutMillis how long the caller waits, 0 for what the bus has as its default
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
          + eventBytes;
    }

    /**
     * Writes what comes before the event.
     *
     * @param out takes {@link #size} bytes, less those of the event, at its position
     * @param eventBytes bytes of the event, which has to follow
     */
    public void write(ByteBuffer out, int eventBytes) {
      Frames.writeHead(out, TypeCode.REQUEST, bodySize(eventBytes));
      Varint.write(out, call);
      Varint.write(out, service.length);
      out.put(service);
      Varint.write(out, method.length);
      out.put(method);
      Varint.write(out, KIND_REPLY);
      Varint.write(out, scope);
      Varint.write(out, priority);
      Varint.write(out, timeoutMillis);
      Varint.write(out, waitMillis);
      out.put((byte) (idempotent ? 1 : 0));
      Varint.write(out, attempt);
      Varint.write(out, member);
      Varint.write(out, schema);
    }
  }

  /**
   * Measures the body of an {@code Invoke} for one reply.
   *
   * @param call the bus's number
   * @param service {@code Register.id}
   * @param methodLength bytes of the method
   * @param timeoutMillis what is left of the caller's time
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
   * Writes what comes before the method in an {@code Invoke}.
   *
   * @param out takes the bytes at its position
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
   * Writes what comes between the method and the event in an {@code Invoke} for one reply.
   *
   * @param out takes the bytes at its position
   * @param timeoutMillis what is left of the caller's time
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
    Varint.write(out, KIND_REPLY);
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
   * Measures what a {@code Reply} ends with: the schema and the event.
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
   * @param member who has answered; 0 on the way from the member
   * @param queuedMicros how long the request waited in the bus; 0 on the way from the member
   * @param handledMicros how long the member worked
   * @param tailBytes bytes of schema and event: see {@link #replyTailSize} and {@link
   *     ReplyView#tailLength}
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
   * Writes what comes before schema and event in a {@code Reply}.
   *
   * @param out takes the bytes at its position
   * @param call the number that the receiver knows the call by
   * @param member who has answered; 0 on the way from the member
   * @param queuedMicros how long the request waited in the bus; 0 on the way from the member
   * @param handledMicros how long the member worked
   * @param tailBytes bytes of schema and event, which have to follow
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
   * Writes what comes behind the event in a {@code Reply}.
   *
   * @param out takes a byte at its position
   * @param more whether further answers to the request come
   */
  public static void writeReplyEnd(ByteBuffer out, boolean more) {
    out.put((byte) (more ? 1 : 0));
  }

  /**
   * Writes the schema of a {@code Reply}.
   *
   * @param out takes the bytes at its position
   * @param schema fingerprint, 0 for none
   */
  public static void writeReplySchema(ByteBuffer out, long schema) {
    Varint.write(out, schema);
  }
}
