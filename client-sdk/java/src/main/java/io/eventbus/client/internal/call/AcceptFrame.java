package io.eventbus.client.internal.call;

import io.eventbus.protocol.CallFrames;
import java.nio.ByteBuffer;

/** Reply that opens a stream or tunnel, for the connection that the call has come over. */
record AcceptFrame(CallPath path, long call, int handledMicros, long limit, Body body)
    implements CallFrame {
  @Override
  public int cost() {
    return body.bytes() + 64;
  }

  private int tailBytes() {
    return CallFrames.replyTailSize(body.fingerprint(), body.bytes()) + CallFrames.limitSize(limit);
  }

  @Override
  public int size(long nowNanos) {
    return CallFrames.replySize(call, 0, 0, handledMicros, tailBytes());
  }

  @Override
  public boolean write(ByteBuffer out, CallPath over) {
    CallFrames.writeReplyHead(out, call, 0, 0, handledMicros, tailBytes());
    CallFrames.writeReplySchema(out, body.fingerprint());
    body.write(out);
    CallFrames.writeReplyEnd(out, false, limit);
    return true;
  }
}
