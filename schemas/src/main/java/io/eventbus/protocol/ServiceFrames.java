package io.eventbus.protocol;

import io.eventbus.schema.Cancel;
import io.eventbus.schema.Capacity;
import io.eventbus.schema.Execution;
import io.eventbus.schema.Failure;
import io.eventbus.schema.FailureCode;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Register;
import io.eventbus.schema.Unregister;
import java.nio.ByteBuffer;
import java.util.Map;

/**
 * Reader of the frames of services that are not on the fast path, by the rules of {@link
 * ControlFrames}, which writes them. Stateless; any thread.
 */
public final class ServiceFrames {
  private ServiceFrames() {}

  /**
   * Reads a {@code Register}. The service is valid UTF-8, but may be illegal as a name.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record; concurrency is 0 or more
   */
  public static Register register(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    Register register = new Register();
    register.setId(in.readLong("Register.id"));
    register.setService(in.readString("Register.service", Topic.MAX_BYTES));
    register.setConcurrency(in.atEnd() ? 16 : concurrency(in, "Register.concurrency"));
    register.setIdentify(!in.atEnd() && in.readBoolean("Register.identify"));
    register.setVersion(
        in.atEnd() ? "" : in.readString("Register.version", FrameLimits.MAX_NAME_BYTES));
    register.setMetadata(
        in.atEnd()
            ? Map.of()
            : ControlFrames.texts(
                in, "Register.metadata", FrameLimits.MAX_METADATA, FrameLimits.MAX_METADATA_BYTES));
    register.setOverflow(
        in.atEnd()
            ? Overflow.DROP_OLDEST
            : ControlFrames.symbol(in, "Register.overflow", Overflow.values(), null));
    return register;
  }

  private static int concurrency(BodyReader in, String field) {
    int at = in.position();
    int concurrency = in.readInt(field);
    if (concurrency < 0) {
      throw in.malformed(field, at, concurrency, "0.." + FrameLimits.MAX_CONCURRENCY);
    }
    if (concurrency > FrameLimits.MAX_CONCURRENCY) {
      throw in.tooBig(field, at, concurrency, FrameLimits.MAX_CONCURRENCY);
    }
    return concurrency;
  }

  /**
   * Reads the first field of a frame of which the rest may be too big: an id, or the number of a
   * call.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the number
   */
  public static long firstNumber(ByteBuffer buf, int from, int to) {
    return new BodyReader().wrap(buf, from, to).readLong("the first field");
  }

  /**
   * Reads an {@code Unregister}.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record
   */
  public static Unregister unregister(ByteBuffer buf, int from, int to) {
    return new Unregister(new BodyReader().wrap(buf, from, to).readLong("Unregister.id"));
  }

  /**
   * Reads a {@code Capacity}.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record; concurrency is 0 or more
   */
  public static Capacity capacity(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    return new Capacity(in.readLong("Capacity.id"), concurrency(in, "Capacity.concurrency"));
  }

  /**
   * Reads a {@code Failure}.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record; a code that this version does not know is INTERNAL, an execution UNKNOWN
   */
  public static Failure failure(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    Failure failure = new Failure();
    failure.setCall(in.readLong("Failure.call"));
    failure.setCode(
        ControlFrames.symbol(in, "Failure.code", FailureCode.values(), FailureCode.INTERNAL));
    failure.setMessage(in.readString("Failure.message", ControlFrames.MAX_MESSAGE_BYTES));
    failure.setExecuted(
        ControlFrames.symbol(in, "Failure.executed", Execution.values(), Execution.UNKNOWN));
    failure.setRetryAfterMillis(in.atEnd() ? 0 : in.readLong("Failure.retryAfterMillis"));
    failure.setMember(in.atEnd() ? 0 : in.readLong("Failure.member"));
    failure.setType(in.atEnd() ? "" : in.readString("Failure.type", FrameLimits.MAX_NAME_BYTES));
    failure.setDetails(
        ByteBuffer.wrap(
            in.atEnd()
                ? new byte[0]
                : in.readBytes("Failure.details", FrameLimits.MAX_DETAILS_BYTES)));
    failure.setMore(!in.atEnd() && in.readBoolean("Failure.more"));
    return failure;
  }

  /**
   * Reads a {@code Cancel}.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record
   */
  public static Cancel cancel(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    return new Cancel(
        in.readLong("Cancel.call"),
        in.atEnd() ? "" : in.readString("Cancel.reason", FrameLimits.MAX_NAME_BYTES));
  }
}
