package io.eventbus.server.transport.websocket;

import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.memory.UnfinishedMemory;
import io.eventbus.server.stats.SingleWriterCounter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Assembler of bytes that come in pieces: frames cut by reads, and messages cut into frames. Memory
 * is acquired before it is allocated, and never more is allocated than twice what has arrived.
 * Confined to the loop.
 */
public final class MessageAssembler {
  /** Size up to which a message is short: about what one read may cut in two. */
  public static final int SHORT_BYTES = 72 * 1024;

  private static final int FIRST = 4 * 1024;

  /**
   * Time after which a short message is overdue: longer than a client needs that sends a message at
   * once, also to a busy bus.
   */
  private static final long SHORT_TIMEOUT_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private static final long LONG_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final ByteBufAllocator allocator;
  private final UnfinishedMemory shortPieces;
  private final UnfinishedMemory longPieces;

  private UnfinishedMemory lacking;
  private @Nullable ByteBuf partialFrame;
  private @Nullable ByteBuf fragments;
  private int partialReserved;
  private int fragmentCount;
  private boolean text;
  private boolean compressed;
  private boolean inMessage;
  private boolean isLong;
  private long beganNanos;
  private boolean paused;
  private boolean pausedForRoom;
  private long pausedAt;
  private final SingleWriterCounter held = new SingleWriterCounter();

  public MessageAssembler(ByteBufAllocator allocator, BusMemory memory) {
    this.allocator = allocator;
    this.shortPieces = memory.shortPieces();
    this.longPieces = memory.longPieces();
    this.lacking = shortPieces;
  }

  /** Returns the bytes held; any thread. */
  public long held() {
    return held.get();
  }

  /** Returns whether more is held than one read may cut in two. */
  public boolean isLong() {
    return isLong;
  }

  /** Returns when the first held bytes came, as {@link System#nanoTime}. */
  public long beganNanos() {
    return beganNanos;
  }

  /** Resumes after a pause, which does not count for what has begun. */
  public void resume(long nowNanos) {
    if (paused) {
      paused = false;
      beganNanos += nowNanos - pausedAt;
    }
  }

  /**
   * Returns the eviction score among short unfinished messages: the one without progress for the
   * longest time is first.
   */
  public double shortEvictionScore(long nowNanos) {
    long age = nowNanos - beganNanos;
    // Waiting for room is not the connection's fault, up to a point.
    long timeout = paused ? LONG_TIMEOUT_NANOS : SHORT_TIMEOUT_NANOS;
    return held.get() == 0 || isLong || isHeldUp() || age < timeout ? 0 : age;
  }

  /**
   * Returns the eviction score among large unfinished messages: the slowest first, of those that
   * are a second old; if all are younger, the largest of those that have waited themselves.
   */
  public double longEvictionScore(long nowNanos) {
    if (!isLong || isHeldUp()) {
      return 0;
    }
    long active = (paused ? pausedAt : nowNanos) - beganNanos;
    if (active >= LONG_TIMEOUT_NANOS) {
      return Long.MAX_VALUE / (1.0 + (double) held.get() / active);
    }
    return nowNanos - beganNanos < LONG_TIMEOUT_NANOS / 4 ? 0 : held.get();
  }

  /** Returns whether it stands still for another reason than waiting for room. */
  private boolean isHeldUp() {
    return paused && !pausedForRoom;
  }

  /** Pauses: nothing is read for now. */
  public void pause(boolean forRoom, long nowNanos) {
    pausedForRoom = forRoom;
    paused = true;
    pausedAt = nowNanos;
  }

  /** Returns what to wait for after something did not fit. */
  public UnfinishedMemory lacking() {
    return lacking;
  }

  /** Returns the frame of which only a part has come; null for none. */
  public @Nullable ByteBuf partialFrame() {
    return partialFrame;
  }

  /**
   * Adds at most so many bytes to the unfinished frame; memory is acquired for the whole of it.
   *
   * @param whole the size of the frame, or more where it is not known yet
   * @return false if there is no memory for them now; then nothing was added
   */
  public boolean addToPartial(ByteBuf in, int max, long whole, long nowNanos) {
    int n = Math.min(max, in.readableBytes());
    if (partialFrame == null && fragments == null) {
      beganNanos = nowNanos;
    }
    // All of it at once: frames that each lack a part of what others hold would wait for each
    // other.
    if (whole > partialReserved) {
      if (!tryAcquire((int) whole - partialReserved)) {
        return false;
      }
      partialReserved = (int) whole;
    }
    ByteBuf frame = partialFrame;
    if (frame == null) {
      frame = allocator.directBuffer((int) Math.min(whole, Math.max(n, Math.min(FIRST, 2 * n))));
    } else if (frame.readableBytes() + n > frame.capacity()) {
      int grown = allocator.calculateNewCapacity(frame.readableBytes() + n, frame.maxCapacity());
      frame.capacity((int) Math.min(whole, grown));
    }
    partialFrame = frame.writeBytes(in, n);
    return true;
  }

  public void clearPartial() {
    ByteBuf frame = partialFrame;
    if (frame != null) {
      partialFrame = null;
      frame.release();
    }
    if (partialReserved > 0) {
      int bytes = partialReserved;
      partialReserved = 0;
      release(bytes);
    }
  }

  /** Returns a buffer with room for more bytes; null if there is no memory for it now. */
  private @Nullable ByteBuf withRoom(@Nullable ByteBuf buffer, int n, long nowNanos) {
    if (partialFrame == null && fragments == null) {
      beganNanos = nowNanos;
    }
    if (buffer == null) {
      int capacity = Math.max(n, Math.min(FIRST, 2 * n));
      return tryAcquire(capacity) ? allocate(capacity) : null;
    }
    int needed = buffer.readableBytes() + n;
    if (needed > buffer.capacity()) {
      int capacity = allocator.calculateNewCapacity(needed, buffer.maxCapacity());
      int more = capacity - buffer.capacity();
      if (!tryAcquire(more)) {
        return null;
      }
      try {
        buffer.capacity(capacity);
      } catch (OutOfMemoryError e) {
        release(more);
        throw e;
      }
    }
    return buffer;
  }

  private ByteBuf allocate(int capacity) {
    try {
      return allocator.directBuffer(capacity);
    } catch (OutOfMemoryError e) {
      release(capacity);
      throw e;
    }
  }

  /**
   * Acquires memory before it is allocated; a message that has become long counts as long in full.
   */
  private boolean tryAcquire(int bytes) {
    long before = held.get();
    boolean becomesLong = !isLong && before + bytes > SHORT_BYTES;
    UnfinishedMemory from = isLong || becomesLong ? longPieces : shortPieces;
    if (becomesLong ? !from.tryAcquire(before + bytes) : !from.tryAcquire(bytes, before)) {
      lacking = from;
      return false;
    }
    if (becomesLong) {
      isLong = true;
      shortPieces.release(before);
    }
    held.add(bytes);
    return true;
  }

  /** Returns the bytes of the message that count as long. */
  public long heldOfLong() {
    return isLong ? held.get() : 0;
  }

  /** Releases memory that could not be allocated after all. */
  private void release(int bytes) {
    (isLong ? longPieces : shortPieces).release(bytes);
    held.add(-bytes);
    isLong &= held.get() > 0;
  }

  private @Nullable ByteBuf free(@Nullable ByteBuf buffer) {
    if (buffer != null) {
      int bytes = buffer.capacity();
      buffer.release();
      release(bytes);
    }
    return null;
  }

  /**
   * Checks the place of a data frame in its message, and the size so far, from the header alone.
   */
  public void check(FrameHeader header, int limit) throws WebSocketViolation {
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
  public void checkSize(FrameHeader header, int limit) throws WebSocketViolation {
    ByteBuf soFar = fragments;
    int before = soFar == null ? 0 : soFar.readableBytes();
    // The length may be any positive number: adding to it could overflow.
    if (header.length > limit - before) {
      throw new WebSocketViolation(
          CloseReason.TOO_BIG,
          "a message of "
              + Long.toUnsignedString(header.length + before)
              + " bytes (expected: at most "
              + limit
              + ")");
    }
    if (fragmentCount >= FrameLimits.MAX_FRAGMENTS) {
      throw new WebSocketViolation(
          CloseReason.TOO_BIG,
          "a message of more than "
              + fragmentCount
              + " frames (expected: at most "
              + FrameLimits.MAX_FRAGMENTS
              + ")");
    }
  }

  /** Notes the first frame of a message. */
  public void begin(FrameHeader header) {
    text = header.opcode == Opcode.TEXT;
    compressed = header.compressed;
    inMessage = !header.fin;
  }

  /** Returns whether the payload of a frame has to be put together with others, or inflated. */
  public boolean isPiece(FrameHeader header) {
    return !header.fin || isFragmented() || needsInflating(header);
  }

  /** Returns whether the message that a frame belongs to is compressed. */
  public boolean needsInflating(FrameHeader header) {
    return header.opcode != Opcode.CONTINUATION ? header.compressed : compressed;
  }

  /**
   * Acquires room for the payload of a frame.
   *
   * @return false if there is no memory for it now; then nothing was done
   */
  public boolean makeRoom(int length, long nowNanos) {
    ByteBuf message = withRoom(fragments, length, nowNanos);
    if (message != null) {
      fragments = message;
    }
    return message != null;
  }

  /** Adds the payload of a frame to the message, for which there is room. */
  public void addFragment(ByteBuf from, int start, int length) {
    message().writeBytes(from, start, length);
    fragmentCount++;
  }

  /** Returns the assembled fragments, owned by this assembler until {@link #endMessage}. */
  public ByteBuf message() {
    ByteBuf message = fragments;
    if (message == null) {
      message = allocator.directBuffer(0, 0);
      fragments = message;
    }
    return message;
  }

  public void endMessage() {
    fragments = free(fragments);
    fragmentCount = 0;
    inMessage = false;
  }

  public boolean isText() {
    return text;
  }

  public boolean isCompressed() {
    return compressed;
  }

  boolean isFragmented() {
    return fragmentCount > 0;
  }

  /** Returns whether a message or a frame has begun and not ended. */
  public boolean isUnfinished() {
    return inMessage || partialFrame != null;
  }

  public void close() {
    clearPartial();
    endMessage();
  }
}
