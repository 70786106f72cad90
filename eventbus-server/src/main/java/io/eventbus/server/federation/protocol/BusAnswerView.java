package io.eventbus.server.federation.protocol;

import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FrameLimits;
import java.nio.ByteBuffer;

/**
 * View of a {@code Return}, {@code Fail} or {@code Busy} in place: its fields and the position of
 * its body. The body of a {@code Return} is well formed; that of a {@code Fail} is to be read as a
 * {@code Failure}.
 *
 * <p>For one thread; reused. Valid until the buffer changes.
 */
public final class BusAnswerView {
  private final BodyReader in = new BodyReader();
  private final EventCursor event = new EventCursor();

  /** Number of the call. */
  public long call;

  /** Member that has answered, 0 for none. */
  public long member;

  /** Time in microseconds that the call waited at the other bus. */
  public int queuedMicros;

  /** Time in microseconds that the member worked, by its own account. */
  public int handledMicros;

  /** Number of calls that may be open at the other bus. */
  public int grant;

  /** Index of the first byte of the body. */
  public int bodyStart;

  /** Size of the body in bytes. */
  public int bodyLength;

  /** Reads and checks a {@code Return}. */
  public void readReturn(ByteBuffer buffer, int from, int to) {
    in.wrap(buffer, from, to);
    call = in.readLong("Return.call");
    member = in.readLong("Return.member");
    queuedMicros = in.readCount("Return.queuedMicros");
    handledMicros = in.readCount("Return.handledMicros");
    grant = BusCallFrames.grant(in, "Return.grant");
    bodyLength = in.readLength("Return.reply", Integer.MAX_VALUE);
    bodyStart = in.position();
    int bodyEnd = bodyStart + bodyLength;
    in.readLong("Return.reply.schema");
    event.wrapOne(buffer, in.position(), bodyEnd, FrameLimits.UNLIMITED, from);
    if (event.eventEnd() != bodyEnd) {
      throw in.malformed(
          "Return.reply", event.eventEnd(), "more than an event", "the end of the reply");
    }
  }

  /** Reads a {@code Fail}. */
  public void readFail(ByteBuffer buffer, int from, int to) {
    in.wrap(buffer, from, to);
    call = in.readLong("Fail.call");
    member = in.readLong("Fail.member");
    queuedMicros = 0;
    handledMicros = 0;
    grant = BusCallFrames.grant(in, "Fail.grant");
    bodyLength = in.readLength("Fail.failure", Integer.MAX_VALUE);
    bodyStart = in.position();
  }

  /** Reads a {@code Busy}. */
  public void readBusy(ByteBuffer buffer, int from, int to) {
    in.wrap(buffer, from, to);
    call = in.readLong("Busy.call");
    member = 0;
    queuedMicros = 0;
    handledMicros = 0;
    grant = BusCallFrames.grant(in, "Busy.grant");
    bodyStart = in.position();
    bodyLength = 0;
  }
}
