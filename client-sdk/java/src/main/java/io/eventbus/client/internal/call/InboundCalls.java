package io.eventbus.client.internal.call;

import io.eventbus.protocol.DataView;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.InvokeView;
import io.eventbus.protocol.ReplyView;
import io.eventbus.protocol.ServiceFrames;
import io.eventbus.schema.Cancel;
import io.eventbus.schema.Failure;
import java.nio.ByteBuffer;

/** Reader of the frames of calls that come over one connection. Confined to its thread. */
public final class InboundCalls {
  private final CallTable calls;
  private final InvokeView invoke = new InvokeView();
  private final ReplyView reply = new ReplyView();
  private final DataView data = new DataView();

  public InboundCalls(CallTable calls) {
    this.calls = calls;
  }

  /** Reads an {@code Invoke}. */
  public void invoke(ByteBuffer message, int from, int to, CallPath path) {
    invoke.read(message, from, to, FrameLimits.UNLIMITED);
    calls.invoked(invoke, path);
  }

  /** Reads a {@code Reply}. */
  public void reply(ByteBuffer message, int from, int to, CallPath path) {
    reply.read(message, from, to, FrameLimits.UNLIMITED);
    calls.pending().reply(reply, path);
  }

  /** Reads a {@code Failure}. */
  public void failure(ByteBuffer message, int from, int to, CallPath path) {
    Failure failure = ServiceFrames.failure(message, from, to);
    if (!calls.pending().failed(failure, path)) {
      calls.tunnels().failed(failure, path);
    }
  }

  /** Reads a {@code Cancel}. */
  public void cancel(ByteBuffer message, int from, int to, CallPath path) {
    Cancel cancel = ServiceFrames.cancel(message, from, to);
    calls.cancelled(cancel.getCall(), cancel.getReason(), path);
  }

  /** Reads a {@code Data}. */
  public void data(ByteBuffer message, int from, int to, CallPath path) {
    data.read(message, from, to);
    calls.tunnels().data(data, message, path);
  }

  /** Reads a {@code Credit}. */
  public void credit(ByteBuffer message, int from, int to, CallPath path) {
    data.readCredit(message, from, to);
    calls.tunnels().credit(data, path);
  }
}
