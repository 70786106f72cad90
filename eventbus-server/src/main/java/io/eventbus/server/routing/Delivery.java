package io.eventbus.server.routing;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.Recycler;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One frame on its way to any number of subscribers: built once, shared by reference, counted,
 * recycled.
 *
 * <p>The buffer starts with a complete WebSocket header for a message that holds just this frame. A
 * bus does not mask (RFC 6455, section 5.1), so that these bytes are the same for every subscriber,
 * and a large delivery is written to all of them without a copy. Whoever puts several into one
 * message skips the header.
 *
 * <p>The maker owns one reference; {@link #retain} and {@link #release} may be called by any
 * thread, everything else is read-only after {@link #finish}.
 */
public final class Delivery {
  /** What a delivery costs beyond its bytes: this object, the buffer's, and a place in a queue. */
  static final int OVERHEAD = 128;

  private static final VarHandle REFERENCES;

  static {
    try {
      REFERENCES = MethodHandles.lookup().findVarHandle(Delivery.class, "references", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static final Recycler<Delivery> POOL =
      new Recycler<>() {
        @Override
        protected Delivery newObject(Handle<Delivery> handle) {
          return new Delivery(handle);
        }
      };

  private final Recycler.Handle<Delivery> handle;
  // Counted through REFERENCES only.
  private int references;
  private @Nullable ByteBuf buffer;
  private @Nullable BusMemory memory;
  // Instead of the account, which does not count these bytes for themselves.
  private @Nullable DeliverySlab slab;
  // Where the message starts in the buffer, and how far the frame has been written.
  private int start;
  private int end;
  private int headerBytes;
  private int frameBytes;
  private int events;
  private long bornNanos;

  private Delivery(Recycler.Handle<Delivery> handle) {
    this.handle = handle;
  }

  /**
   * Makes a delivery whose frame is still to be written with {@link #writable} and {@link #finish}.
   *
   * @param allocator where the buffer comes from
   * @param memory counts the bytes until the last release
   * @param frameBytes the exact size of the frame
   * @param events how many events it holds; 0 for a frame that is not a {@code Deliver}
   * @param bornNanos {@link System#nanoTime} when the bus received what it is made from
   * @return a delivery with one reference
   */
  public static Delivery allocate(
      ByteBufAllocator allocator, BusMemory memory, int frameBytes, int events, long bornNanos) {
    int bytes = messageBytes(frameBytes);
    Delivery d = POOL.get();
    d.memory = memory;
    d.begin(allocator.directBuffer(bytes, bytes), 0, frameBytes, events, bornNanos);
    memory.reserve(d.size());
    return d;
  }

  /** As {@link #allocate}, at a place in a slab that was taken for it. */
  static Delivery in(DeliverySlab slab, int start, int frameBytes, int events, long bornNanos) {
    Delivery d = POOL.get();
    d.slab = slab;
    d.begin(slab.buffer(), start, frameBytes, events, bornNanos);
    return d;
  }

  private void begin(ByteBuf into, int at, int frame, int eventCount, long born) {
    buffer = into;
    start = at;
    headerBytes = headerBytes(frame);
    end = at + headerBytes;
    frameBytes = frame;
    events = eventCount;
    bornNanos = born;
    references = 1;
    setHeader(into, at, frame);
  }

  /**
   * Says whether this delivery shares its buffer with others, which it keeps from being given back.
   *
   * @return false if it has a buffer of its own
   */
  public boolean isInSlab() {
    return slab != null;
  }

  /**
   * Makes a delivery of the same frame with a buffer of its own.
   *
   * @param allocator where the buffer comes from
   * @param account counts the bytes until the last release
   * @return a finished delivery with one reference
   */
  public Delivery copy(ByteBufAllocator allocator, BusMemory account) {
    Delivery d = allocate(allocator, account, frameBytes, events, bornNanos);
    d.buffer().setBytes(headerBytes, buffer(), start + headerBytes, frameBytes);
    d.end += frameBytes;
    d.finish();
    return d;
  }

  /** The size of a message that holds just this frame. */
  static int messageBytes(int frameBytes) {
    return headerBytes(frameBytes) + frameBytes;
  }

  private static int headerBytes(int frameBytes) {
    return frameBytes < 126 ? 2 : frameBytes < 65_536 ? 4 : 10;
  }

  private static void setHeader(ByteBuf out, int at, int payloadBytes) {
    out.setByte(at, 0x82);
    if (payloadBytes < 126) {
      out.setByte(at + 1, payloadBytes);
    } else if (payloadBytes < 65_536) {
      out.setByte(at + 1, 126).setShort(at + 2, payloadBytes);
    } else {
      out.setByte(at + 1, 127).setLong(at + 2, payloadBytes);
    }
  }

  /**
   * Makes a delivery from an encoded frame.
   *
   * @param allocator where the buffer comes from
   * @param memory counts the bytes until the last release
   * @param frame the frame
   * @param bornNanos {@link System#nanoTime} now
   * @return a finished delivery with one reference
   */
  public static Delivery of(
      ByteBufAllocator allocator, BusMemory memory, byte[] frame, long bornNanos) {
    Delivery d = allocate(allocator, memory, frame.length, 0, bornNanos);
    d.append(ByteBuffer.wrap(frame));
    d.finish();
    return d;
  }

  /**
   * Writes the header of an unmasked, unfragmented, uncompressed binary message (RFC 6455, section
   * 5.2).
   *
   * @param out takes 2, 4 or 10 bytes
   * @param payloadBytes the size of the message
   */
  public static void writeHeader(ByteBuf out, int payloadBytes) {
    int bytes = headerBytes(payloadBytes);
    out.ensureWritable(bytes);
    setHeader(out, out.writerIndex(), payloadBytes);
    out.writerIndex(out.writerIndex() + bytes);
  }

  private ByteBuf buffer() {
    ByteBuf b = buffer;
    if (b == null) {
      throw new IllegalStateException("the delivery was released");
    }
    return b;
  }

  /**
   * Returns where the frame is to be written, until {@link #finish}.
   *
   * @return a buffer with exactly the room that was asked for; not to be kept
   */
  public ByteBuffer writable() {
    end = start + headerBytes + frameBytes;
    return buffer().internalNioBuffer(start + headerBytes, frameBytes);
  }

  /**
   * Adds bytes to the frame, as an alternative to {@link #writable} that makes no view of the
   * buffer.
   *
   * @param bytes from position to limit; consumed
   */
  public void append(ByteBuffer bytes) {
    int length = bytes.remaining();
    checkRoom(length);
    buffer().setBytes(end, bytes);
    end += length;
  }

  private void checkRoom(int length) {
    int room = start + headerBytes + frameBytes - end;
    if (length > room) {
      throw new IndexOutOfBoundsException(length + " bytes (expected: <= " + room + ")");
    }
  }

  /**
   * Adds a part of another buffer to the frame.
   *
   * @param from its position and limit are as before afterwards
   * @param index of the first byte
   * @param length how many
   */
  public void append(ByteBuffer from, int index, int length) {
    int position = from.position();
    int limit = from.limit();
    append(from.limit(index + length).position(index));
    from.limit(limit).position(position);
  }

  /**
   * Declares that the frame has been written.
   *
   * @throws IllegalStateException if a part of it is missing
   */
  public void finish() {
    int missing = start + headerBytes + frameBytes - end;
    if (missing != 0) {
      throw new IllegalStateException(missing + " bytes of the frame are missing");
    }
    ByteBuf b = buffer();
    if (slab == null) {
      b.writerIndex(end);
    }
  }

  /**
   * Returns the frame for reading.
   *
   * @return a view of its own position and limit
   */
  public ByteBuffer frame() {
    return buffer().nioBuffer(start + headerBytes, frameBytes);
  }

  /**
   * Returns the whole message, header and frame, for writing to a socket.
   *
   * @return a view that holds a reference to the bytes of its own
   */
  public ByteBuf message() {
    return buffer().retainedSlice(start, headerBytes + frameBytes);
  }

  /**
   * Returns the frame without the header, for writing to a socket.
   *
   * @return a view that holds a reference to the bytes of its own
   */
  public ByteBuf frameSlice() {
    return buffer().retainedSlice(start + headerBytes, frameBytes);
  }

  /**
   * Copies the frame without the header.
   *
   * @param out takes {@link #frameBytes} bytes
   */
  public void copyFrame(ByteBuf out) {
    out.writeBytes(buffer(), start + headerBytes, frameBytes);
  }

  /**
   * Returns the size of the frame.
   *
   * @return bytes
   */
  public int frameBytes() {
    return frameBytes;
  }

  /**
   * Returns what the delivery counts for in a queue.
   *
   * @return bytes, overhead included
   */
  public int size() {
    return headerBytes + frameBytes + OVERHEAD;
  }

  /**
   * Returns how many events the frame holds.
   *
   * @return 0 for a frame that is not a {@code Deliver}
   */
  public int events() {
    return events;
  }

  /**
   * Returns when the bus received what this is made from.
   *
   * @return as {@link System#nanoTime}
   */
  public long bornNanos() {
    return bornNanos;
  }

  /** Adds a reference; the caller, or who lends it the delivery, holds one already. */
  public void retain() {
    int before = (int) REFERENCES.getAndAdd(this, 1);
    if (before <= 0) {
      throw new IllegalStateException("references: " + before + " (expected: >= 1)");
    }
  }

  /** Gives a reference back; the last one frees the bytes. */
  public void release() {
    int left = (int) REFERENCES.getAndAdd(this, -1) - 1;
    if (left > 0) {
      return;
    }
    if (left < 0) {
      throw new IllegalStateException("references: " + left + " (expected: >= 0)");
    }
    ByteBuf freed = buffer();
    BusMemory account = memory;
    DeliverySlab shared = slab;
    buffer = null;
    memory = null;
    slab = null;
    if (shared != null) {
      shared.release();
    } else {
      freed.release();
    }
    if (account != null) {
      account.release(size());
    }
    handle.recycle(this);
  }

  @Override
  public String toString() {
    return "Delivery["
        + frameBytes
        + " bytes, "
        + events
        + " events, "
        + references
        + " references]";
  }
}
