package io.eventbus.client.internal.call;

import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.InvokeView;
import io.eventbus.protocol.ReplyView;
import io.eventbus.protocol.ServiceFrames;
import java.nio.ByteBuffer;

/** Reads the frames of calls that come over one connection. Confined to its thread. */
public final class InboundCalls {
  private final Calls calls;
  private final InvokeView invoke = new InvokeView();
  private final ReplyView reply = new ReplyView();

  /** Makes one. */
  public InboundCalls(Calls calls) {
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
    calls.pending().failed(ServiceFrames.failure(message, from, to), path);
  }

  /** Reads a {@code Cancel}. */
  public void cancel(ByteBuffer message, int from, int to, CallPath path) {
    calls.cancelled(ServiceFrames.cancel(message, from, to).getCall(), path);
  }
}
