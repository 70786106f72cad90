package io.eventbus.server.federation.protocol;

import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.ServiceName;
import io.eventbus.protocol.Utf8;
import io.eventbus.schema.CallPriority;
import java.nio.ByteBuffer;

/**
 * View of a {@code Call} in place: its fields and the position of its body, every part of which is
 * well formed.
 *
 * <p>For one thread; reused. Valid until the buffer changes.
 */
public final class BusCallView {
  private static final CallPriority[] PRIORITIES = CallPriority.values();

  private final BodyReader in = new BodyReader();
  private final EventCursor event = new EventCursor();

  /** Rest of the caller's time in milliseconds. */
  public int timeoutMillis;

  /** Sender's number of the call. */
  public long call;

  /** Number of further calls of the service that wait at the sender. */
  public int queued;

  /** Permission to send it back with {@code Busy}. */
  public boolean returnable;

  /** Priority; NORMAL if this version does not know the sent one. */
  public CallPriority priority = CallPriority.NORMAL;

  /** Permission to execute it twice. */
  public boolean idempotent;

  /** Number of times that it was sent or given to a member before. */
  public int attempt;

  /** Only member that may have it, 0 for any. */
  public long member;

  /** Caller's producer number. */
  public long caller;

  /** Caller's number of the call. */
  public long request;

  /** Authenticated name of the caller, in UTF-8. */
  public byte[] identity = {};

  /** Account whose name space the service is in; empty for the common one. */
  public String account = "";

  /** Microseconds since the epoch. */
  public long receivedAt;

  /** Fingerprint of the payload's schema. */
  public long schema;

  /** Name of the service. */
  public String service = "";

  /** Number of the first bytes of the body that are the method. */
  public int methodLength;

  /** Index of the first byte of the body. */
  public int bodyStart;

  /** Size of the body in bytes. */
  public int bodyLength;

  /** Reads and checks a whole body. Bytes behind it are a later version's, and ignored. */
  public void read(ByteBuffer buffer, int from, int to) {
    in.wrap(buffer, from, to);
    timeoutMillis = in.readCount("Call.timeoutMillis");
    call = in.readLong("Call.call");
    queued = in.readCount("Call.queued");
    returnable = in.readBoolean("Call.returnable");
    int urgent = in.readCount("Call.priority");
    priority = urgent < PRIORITIES.length ? PRIORITIES[urgent] : CallPriority.NORMAL;
    idempotent = in.readBoolean("Call.idempotent");
    attempt = in.readCount("Call.attempt");
    member = in.readLong("Call.member");
    caller = in.readLong("Call.caller");
    request = in.readLong("Call.request");
    identity = in.readBytes("Call.identity", FrameLimits.MAX_IDENTITY_BYTES);
    account = in.readString("Call.account", PeerFrames.MAX_ACCOUNT_BYTES);
    receivedAt = in.readLong("Call.receivedAt");
    schema = in.readLong("Call.schema");
    int serviceAt = in.position();
    service = in.readString("Call.service", ServiceName.MAX_BYTES);
    String problem = ServiceName.problem(service);
    if (problem != null) {
      throw in.malformed("Call.service", serviceAt, service, problem);
    }
    int methodAt = in.position();
    methodLength = in.readCount("Call.methodLength");
    bodyLength = in.readLength("Call.body", Integer.MAX_VALUE);
    bodyStart = in.position();
    int bodyEnd = bodyStart + bodyLength;
    if (methodLength > Math.min(bodyLength, FrameLimits.MAX_NAME_BYTES)) {
      throw in.tooBig(
          "Call.methodLength",
          methodAt,
          methodLength,
          Math.min(bodyLength, FrameLimits.MAX_NAME_BYTES));
    }
    if (!Utf8.isValid(buffer, bodyStart, bodyStart + methodLength)) {
      throw in.malformed("Call.body", bodyStart, "a method that is not UTF-8", "UTF-8");
    }
    event.wrapOne(buffer, bodyStart + methodLength, bodyEnd, FrameLimits.UNLIMITED, from);
    if (event.eventEnd() != bodyEnd) {
      throw in.malformed(
          "Call.body", event.eventEnd(), "more than an event", "the end of the body");
    }
  }
}
