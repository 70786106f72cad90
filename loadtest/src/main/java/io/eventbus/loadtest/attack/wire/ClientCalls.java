package io.eventbus.loadtest.attack.wire;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.CallKind;
import io.eventbus.schema.CallPriority;
import io.eventbus.schema.CallScope;
import io.eventbus.schema.Cancel;
import io.eventbus.schema.Capacity;
import io.eventbus.schema.Credit;
import io.eventbus.schema.Data;
import io.eventbus.schema.Event;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Register;
import io.eventbus.schema.Reply;
import io.eventbus.schema.Request;
import java.nio.ByteBuffer;
import java.util.Map;

/** Legal frames of callers and members, as octets. Stateless. */
public final class ClientCalls {
  /** Bytes that a {@code Data} counts for beside its payload. */
  public static final int DATA_HEAD = 64;

  private static final byte[] NOTHING = {};

  private ClientCalls() {}

  /** Writes a {@code Register}. */
  public static byte[] register(long id, String service, int concurrency) {
    return ControlFrames.encode(
        TypeCode.REGISTER,
        new Register(id, service, concurrency, false, "", Map.of(), Overflow.DROP_OLDEST));
  }

  /** Writes a {@code Capacity}. */
  public static byte[] capacity(long id, int concurrency) {
    return ControlFrames.encode(TypeCode.CAPACITY, new Capacity(id, concurrency));
  }

  /** Writes a {@code Request} for one answer. */
  public static byte[] request(
      long call, String service, int timeoutMillis, int waitMillis, byte[] payload) {
    return request(
        call, service, CallKind.REPLY, CallScope.ONE, timeoutMillis, waitMillis, payload, 0);
  }

  /** Writes a {@code Request} to all members. */
  public static byte[] gather(long call, String service, int timeoutMillis) {
    return request(call, service, CallKind.REPLY, CallScope.ALL, timeoutMillis, 0, NOTHING, 0);
  }

  /** Writes a {@code Request} for a tunnel. */
  public static byte[] tunnel(long call, String service, int timeoutMillis, long limit) {
    return request(call, service, CallKind.TUNNEL, CallScope.ONE, timeoutMillis, 0, NOTHING, limit);
  }

  private static byte[] request(
      long call,
      String service,
      CallKind kind,
      CallScope scope,
      int timeoutMillis,
      int waitMillis,
      byte[] payload,
      long limit) {
    return ControlFrames.encode(
        TypeCode.REQUEST,
        new Request(
            call,
            service,
            "",
            kind,
            scope,
            CallPriority.NORMAL,
            timeoutMillis,
            waitMillis,
            false,
            0,
            0L,
            0L,
            event(payload),
            limit));
  }

  /** Writes a {@code Cancel}. */
  public static byte[] cancel(long call) {
    return ControlFrames.encode(TypeCode.CANCEL, new Cancel(call, ""));
  }

  /**
   * Writes a {@code Reply}, which also accepts a tunnel.
   *
   * @param limit how much the member takes of a tunnel, else 0
   */
  public static byte[] reply(long call, byte[] payload, long limit) {
    return ControlFrames.encode(
        TypeCode.REPLY, new Reply(call, 0L, 0, 0, 0L, event(payload), false, limit));
  }

  /** Writes a {@code Data} of a tunnel. */
  public static byte[] data(long call, long offset, byte[] payload) {
    return ControlFrames.encode(
        TypeCode.DATA, new Data(call, offset, false, false, ByteBuffer.wrap(payload)));
  }

  /**
   * Writes a {@code Credit} of a tunnel.
   *
   * @param limit how much may be sent in all
   */
  public static byte[] credit(long call, long limit, long received) {
    return ControlFrames.encode(TypeCode.CREDIT, new Credit(call, limit, received, 0L));
  }

  private static Event event(byte[] payload) {
    return new Event(0L, null, Map.of(), ByteBuffer.wrap(payload));
  }
}
