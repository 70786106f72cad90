package io.eventbus.loadtest.attack.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/**
 * Takes apart the WebSocket frames of a bus, which are not masked. Payloads that nobody wants are
 * skipped as they come. For one thread.
 */
final class ServerFrames {
  private static final int OPCODE = 0x0F;
  private static final int FIRST_CONTROL = 8;
  private static final int SHORT = 126;
  private static final int LONG = 127;

  /** Takes what was found. */
  interface Sink {
    /** Returns whether it wants the payloads of messages. */
    boolean wants();

    /** A whole frame; the buffer is valid during the call. */
    void frame(int opcode, ByteBuf payload);
  }

  private final Sink sink;
  private ByteBuf rest = Unpooled.EMPTY_BUFFER;
  private long skip;

  ServerFrames(Sink sink) {
    this.sink = sink;
  }

  /** Takes octets from the buffer until it is empty; does not release it. */
  void take(ByteBuf in) {
    boolean joined = rest.isReadable();
    if (joined) {
      rest.writeBytes(in);
    }
    ByteBuf all = joined ? rest : in;
    while (all.isReadable() && one(all)) {
      // A frame, or a part of one that is skipped.
    }
    if (joined && rest.isReadable()) {
      rest.discardSomeReadBytes();
      return;
    }
    release();
    if (in.isReadable()) {
      rest = Unpooled.buffer(in.readableBytes()).writeBytes(in);
    }
  }

  private boolean one(ByteBuf in) {
    if (skip > 0) {
      int now = (int) Math.min(skip, in.readableBytes());
      in.skipBytes(now);
      skip -= now;
      return true;
    }
    int start = in.readerIndex();
    if (in.readableBytes() < 2) {
      return false;
    }
    int opcode = in.getByte(start) & OPCODE;
    long length = in.getByte(start + 1) & LONG;
    int head = 2;
    if (length == SHORT) {
      head = 4;
    } else if (length == LONG) {
      head = 10;
    }
    if (in.readableBytes() < head) {
      return false;
    }
    if (head == 4) {
      length = in.getUnsignedShort(start + 2);
    } else if (head == 10) {
      length = in.getLong(start + 2);
    }
    if (opcode < FIRST_CONTROL && !sink.wants()) {
      in.skipBytes(head);
      skip = length;
      return true;
    }
    if (in.readableBytes() < head + length) {
      return false;
    }
    in.skipBytes(head);
    sink.frame(opcode, in.readSlice((int) length));
    return true;
  }

  void release() {
    rest.release();
    rest = Unpooled.EMPTY_BUFFER;
  }
}
