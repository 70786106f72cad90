package io.eventbus.server.transport;

import io.eventbus.protocol.CloseReason;
import io.eventbus.server.routing.BusMemory;
import io.eventbus.server.stats.SingleWriterCounter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.jspecify.annotations.Nullable;

/**
 * Puts bytes that come in pieces together: frames that are cut by reads, and messages that are cut
 * into frames. What it holds is counted, and never more is allocated than twice what has arrived.
 * Confined to the loop.
 */
final class MessageAssembler {
  private static final int FIRST = 4 * 1024;
  private static final int MAX_FRAGMENTS = 65_536;

  private final ByteBufAllocator allocator;
  private final BusMemory memory;

  private @Nullable ByteBuf partialFrame;
  private @Nullable ByteBuf fragments;
  private int fragmentCount;
  private boolean text;
  private boolean compressed;
  private boolean inMessage;
  private final SingleWriterCounter held = new SingleWriterCounter();

  MessageAssembler(ByteBufAllocator allocator, BusMemory memory) {
    this.allocator = allocator;
    this.memory = memory;
  }

  /** Bytes held; any thread. */
  long held() {
    return held.get();
  }

  /** The frame of which only a part has come; null for none. */
  @Nullable ByteBuf partialFrame() {
    return partialFrame;
  }

  /** Takes up to so many bytes into the unfinished frame. */
  void addToPartial(ByteBuf in, int most) {
    int n = Math.min(most, in.readableBytes());
    partialFrame = append(partialFrame, in, n);
  }

  void clearPartial() {
    partialFrame = free(partialFrame);
  }

  private ByteBuf append(@Nullable ByteBuf to, ByteBuf in, int n) {
    ByteBuf target = to;
    if (target == null) {
      target = allocator.directBuffer(Math.max(n, Math.min(FIRST, 2 * n)));
      count(target.capacity());
    }
    int before = target.capacity();
    target.writeBytes(in, n);
    count(target.capacity() - before);
    return target;
  }

  private @Nullable ByteBuf free(@Nullable ByteBuf buffer) {
    if (buffer != null) {
      count(-buffer.capacity());
      buffer.release();
    }
    return null;
  }

  private void count(int bytes) {
    memory.change(bytes);
    held.add(bytes);
  }

  /**
   * Checks the place of a data frame in its message, and the size so far, from the header alone.
   */
  void check(FrameHeader header, int limit) throws WebSocketViolation {
    if (header.opcode == Opcode.CONTINUATION && !inMessage) {
      throw new WebSocketViolation(
          CloseReason.PROTOCOL_ERROR, "a continuation without a start (expected: text or binary)");
    }
    if (header.opcode != Opcode.CONTINUATION && inMessage) {
      throw new WebSocketViolation(
          CloseReason.PROTOCOL_ERROR, "a new message inside another (expected: a continuation)");
    }
    checkSize(header, limit);
  }

  /** Checks the size of a message so far, from the header alone. */
  void checkSize(FrameHeader header, int limit) throws WebSocketViolation {
    ByteBuf soFar = fragments;
    int before = soFar == null ? 0 : soFar.readableBytes();
    // The length may be any positive number: adding to it could overflow.
    if (header.length > limit - before || fragmentCount >= MAX_FRAGMENTS) {
      throw new WebSocketViolation(
          CloseReason.TOO_BIG,
          "a message of "
              + Long.toUnsignedString(header.length + before)
              + " bytes in "
              + (fragmentCount + 1)
              + " frames (expected: at most "
              + limit
              + " bytes)");
    }
  }

  /** Notes the first frame of a message. */
  void begin(FrameHeader header) {
    text = header.opcode == Opcode.TEXT;
    compressed = header.compressed;
    inMessage = !header.fin;
  }

  void addFragment(ByteBuf payload) {
    fragmentCount++;
    fragments = append(fragments, payload, payload.readableBytes());
  }

  /** The fragments put together; stays owned by this assembler until {@link #endMessage}. */
  ByteBuf message() {
    ByteBuf message = fragments;
    if (message == null) {
      message = allocator.directBuffer(0, 0);
      fragments = message;
    }
    return message;
  }

  void endMessage() {
    fragments = free(fragments);
    fragmentCount = 0;
    inMessage = false;
  }

  boolean isText() {
    return text;
  }

  boolean isCompressed() {
    return compressed;
  }

  boolean isFragmented() {
    return fragmentCount > 0;
  }

  void close() {
    clearPartial();
    endMessage();
  }
}
