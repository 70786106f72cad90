package io.eventbus.server.federation.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.Topic;
import io.eventbus.protocol.Varint;
import io.eventbus.schema.CallPriority;
import io.eventbus.server.federation.schema.CallHello;
import io.eventbus.server.federation.schema.Demand;
import io.eventbus.server.federation.schema.Grant;
import io.eventbus.server.federation.schema.Stop;
import java.nio.ByteBuffer;

/**
 * Writer of the frames of calls between buses, and reader of those without a body of a client.
 * Frames of each call are read by {@link BusCallView} and {@link BusAnswerView} instead. Stateless;
 * any thread.
 */
public final class BusCallFrames {
  /** Maximum number of calls that a bus may be granted. */
  public static final int MAX_GRANT = 1 << 24;

  private BusCallFrames() {}

  /**
   * Encodes the part between the remaining time and the body of a {@code Call}: the same each time
   * that the frame is sent.
   *
   * @param call the sender's number of the call
   * @param queued how many more calls of the service wait
   * @param returnable whether it may come back with {@code Busy}
   * @param priority its priority
   * @param idempotent whether the call may be executed twice
   * @param attempt how often it was sent or given to a member before
   * @param member the only member to call, 0 for any
   * @param caller the caller's producer number
   * @param request the caller's number
   * @param identity the caller's name in UTF-8, at most {@link FrameLimits#MAX_IDENTITY_BYTES}
   *     bytes
   * @param account whose name space the service is in, at most {@link PeerFrames#MAX_ACCOUNT_BYTES}
   *     bytes of UTF-8; empty for the common one
   * @param receivedAt microseconds since the epoch
   * @param schema fingerprint, 0 for none
   * @param service the service's name
   * @param methodLength how many of the first bytes of the body are the method
   */
  public static byte[] callHead(
      long call,
      int queued,
      boolean returnable,
      CallPriority priority,
      boolean idempotent,
      int attempt,
      long member,
      long caller,
      long request,
      byte[] identity,
      String account,
      long receivedAt,
      long schema,
      String service,
      int methodLength) {
    byte[] accountBytes = account.getBytes(UTF_8);
    byte[] serviceBytes = service.getBytes(UTF_8);
    ByteBuffer out =
        ByteBuffer.allocate(
            13 * Varint.MAX_BYTES + identity.length + accountBytes.length + serviceBytes.length);
    Varint.write(out, call);
    Varint.write(out, queued);
    out.put((byte) (returnable ? 1 : 0));
    Varint.write(
        out,
        switch (priority) {
          case NORMAL -> 0;
          case HIGH -> 1;
          case LOW -> 2;
        });
    out.put((byte) (idempotent ? 1 : 0));
    Varint.write(out, attempt);
    Varint.write(out, member);
    Varint.write(out, caller);
    Varint.write(out, request);
    put(out, identity);
    put(out, accountBytes);
    Varint.write(out, receivedAt);
    Varint.write(out, schema);
    put(out, serviceBytes);
    Varint.write(out, methodLength);
    return written(out);
  }

  private static void put(ByteBuffer out, byte[] text) {
    Varint.write(out, text.length);
    out.put(text);
  }

  private static byte[] written(ByteBuffer out) {
    byte[] bytes = new byte[out.flip().remaining()];
    out.get(bytes);
    return bytes;
  }

  /**
   * Measures the part before the body in a whole {@code Call} frame.
   *
   * @param timeoutMillis the rest of the caller's time
   * @param head from {@link #callHead}
   * @param bodyBytes bytes of the body
   */
  public static int callStartSize(int timeoutMillis, byte[] head, int bodyBytes) {
    int start = Varint.size(timeoutMillis) + head.length + Varint.size(bodyBytes);
    return Varint.size(PeerFrames.CALL) + Varint.size((long) start + bodyBytes) + start;
  }

  /**
   * Writes the part before the body in a whole {@code Call} frame.
   *
   * @param out has room for {@link #callStartSize} bytes at its position
   * @param timeoutMillis the rest of the caller's time
   * @param head from {@link #callHead}
   * @param bodyBytes bytes of the body, which has to follow
   */
  public static void writeCallStart(ByteBuffer out, int timeoutMillis, byte[] head, int bodyBytes) {
    int start = Varint.size(timeoutMillis) + head.length + Varint.size(bodyBytes);
    Varint.write(out, PeerFrames.CALL);
    Varint.write(out, (long) start + bodyBytes);
    Varint.write(out, timeoutMillis);
    out.put(head);
    Varint.write(out, bodyBytes);
  }

  /**
   * Encodes the part before the reply in a whole {@code Return} frame.
   *
   * @param call the number of the call
   * @param member the member that has answered
   * @param queuedMicros how long the call waited at this bus
   * @param handledMicros how long the member worked
   * @param grant calls that the other bus may have open
   * @param replyBytes bytes of schema and event, which have to follow
   */
  public static byte[] returnStart(
      long call, long member, int queuedMicros, int handledMicros, int grant, int replyBytes) {
    ByteBuffer out = ByteBuffer.allocate(8 * Varint.MAX_BYTES);
    int body =
        Varint.size(call)
            + Varint.size(member)
            + Varint.size(queuedMicros)
            + Varint.size(handledMicros)
            + Varint.size(grant)
            + Varint.size(replyBytes);
    Varint.write(out, PeerFrames.RETURN);
    Varint.write(out, (long) body + replyBytes);
    Varint.write(out, call);
    Varint.write(out, member);
    Varint.write(out, queuedMicros);
    Varint.write(out, handledMicros);
    Varint.write(out, grant);
    Varint.write(out, replyBytes);
    return written(out);
  }

  /**
   * Encodes the part before the failure in a whole {@code Fail} frame.
   *
   * @param call the number of the call
   * @param member the member that had it, 0 for none
   * @param grant calls that the other bus may have open
   * @param failureBytes bytes of the body of a {@code Failure}, which have to follow
   */
  public static byte[] failStart(long call, long member, int grant, int failureBytes) {
    ByteBuffer out = ByteBuffer.allocate(6 * Varint.MAX_BYTES);
    int body =
        Varint.size(call) + Varint.size(member) + Varint.size(grant) + Varint.size(failureBytes);
    Varint.write(out, PeerFrames.FAIL);
    Varint.write(out, (long) body + failureBytes);
    Varint.write(out, call);
    Varint.write(out, member);
    Varint.write(out, grant);
    Varint.write(out, failureBytes);
    return written(out);
  }

  /** Reads a {@code CallHello}. */
  public static CallHello hello(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    return new CallHello(
        in.readInt("CallHello.stream"),
        in.readLong("CallHello.session"),
        in.readBoolean("CallHello.begins"),
        in.readLong("CallHello.taken"));
  }

  /** Reads a {@code Stop}. */
  public static Stop stop(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    return new Stop(
        in.readLong("Stop.call"), in.readString("Stop.reason", FrameLimits.MAX_NAME_BYTES));
  }

  /** Reads a {@code Grant}. */
  public static Grant grant(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    return new Grant(
        in.readString("Grant.service", Topic.MAX_BYTES),
        grant(in, "Grant.grant"),
        in.readString("Grant.account", PeerFrames.MAX_ACCOUNT_BYTES));
  }

  /** Reads a {@code Demand}. */
  public static Demand demand(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    return new Demand(
        in.readString("Demand.service", Topic.MAX_BYTES),
        in.readCount("Demand.queued"),
        in.readString("Demand.account", PeerFrames.MAX_ACCOUNT_BYTES));
  }

  static int grant(BodyReader in, String field) {
    int at = in.position();
    int grant = in.readCount(field);
    if (grant > MAX_GRANT) {
      throw in.tooBig(field, at, grant, MAX_GRANT);
    }
    return grant;
  }
}
