package io.eventbus.client.internal.call;

import io.eventbus.protocol.CallFrames;
import java.nio.ByteBuffer;

/** Reply of a handler, for the connection that the call has come over. */
record ReplyFrame(CallPath path, long call, int handledMicros, Body body) implements CallFrame {
  @Override
  public int cost() {
    return body.bytes() + 64;
  }

  private int tailBytes() {
    return CallFrames.replyTailSize(body.fingerprint(), body.bytes()) + CallFrames.limitSize(0);
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
    CallFrames.writeReplyEnd(out, false, 0);
    return true;
  }
}
