package io.eventbus.server.delivery;

import io.eventbus.server.memory.BusMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.Recycler;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Frame on its way to any number of subscribers: built once, shared by reference, counted,
 * recycled.
 *
 * <p>In front of the frame there is room for the header of a transport, so that a large delivery is
 * written to all subscribers without a copy. Any thread may write the header, more than once, as
 * long as its bytes are always the same.
 *
 * <p>A delivery for members of groups names in its tail the subscriptions that it is for. With
 * large events it has only a head and a tail of its own, and {@linkplain #around stands around} the
 * events of another delivery, so that an event is held once however many groups it matches.
 *
 * <p>The creator owns one reference; {@link #retain} and {@link #release} may be called by any
 * thread, everything else is read-only after {@link #finish}.
 *
 * <p>It is one class because layout, reference count and recycling hold together: none is right
 * without the others.
 */
public final class Delivery {
  /** Cost of a delivery beyond its bytes: this object, the buffer's, and a place in a queue. */
  static final int OVERHEAD = 128;

  /** Room in front of each frame, in bytes. */
  public static final int HEADROOM = 10;

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
  // In place of the account, which does not count these bytes by themselves.
  private @Nullable DeliverySlab slab;
  // Start of the frame in the buffer, and the end of what was written.
  private int start;
  private int end;
  private int frameBytes;
  private DeliveryKind kind = DeliveryKind.EVENTS;
  private int events;
  private long receivedNanos;
  private int generation;
  // Delivery with the events that this one shows, their start in its frame, and the byte of this
  // one's own frame that they precede.
  private @Nullable Delivery inner;
  private int innerFrom;
  private int innerBytes;
  private int split;

  private Delivery(Recycler.Handle<Delivery> handle) {
    this.handle = handle;
  }

  /**
   * Creates a delivery whose frame is still to be written with {@link #writable} and {@link
   * #finish}.
   *
   * @param memory counts the bytes until the last release
   * @param events number of events; 0 for all kinds but {@link DeliveryKind#EVENTS}
   * @param receivedNanos {@link System#nanoTime} when the bus received its source
   */
  public static Delivery allocate(
      ByteBufAllocator allocator,
      BusMemory memory,
      DeliveryKind kind,
      int frameBytes,
      int events,
      long receivedNanos) {
    int bytes = HEADROOM + frameBytes;
    Delivery d = POOL.get();
    d.memory = memory;
    d.begin(allocator.directBuffer(bytes, bytes), 0, kind, frameBytes, events, receivedNanos);
    memory.reserve(d.size());
    return d;
  }

  /** Creates a delivery like {@link #allocate}, at a place that was acquired in a slab. */
  static Delivery allocateInSlab(
      DeliverySlab slab,
      int start,
      DeliveryKind kind,
      int frameBytes,
      int events,
      long receivedNanos) {
    Delivery d = POOL.get();
    d.slab = slab;
    d.begin(slab.buffer(), start, kind, frameBytes, events, receivedNanos);
    return d;
  }

  /**
   * Creates a delivery with a head and a tail of its own around the events of another one.
   *
   * @param memory counts the bytes of head and tail until the last release
   * @param from start of the events in the other frame
   * @param bytes size of the events
   */
  static Delivery around(
      ByteBufAllocator allocator,
      BusMemory memory,
      Delivery events,
      int from,
      int bytes,
      ByteBuffer head,
      ByteBuffer tail) {
    int own = head.remaining() + tail.remaining();
    Delivery d = POOL.get();
    d.memory = memory;
    d.begin(
        allocator.directBuffer(HEADROOM + own, HEADROOM + own),
        0,
        events.kind,
        own + bytes,
        events.events,
        events.receivedNanos);
    events.retain();
    d.inner = events;
    d.innerFrom = from;
    d.innerBytes = bytes;
    d.split = head.remaining();
    d.buffer().setBytes(HEADROOM, head);
    d.buffer().setBytes(HEADROOM + d.split, tail);
    d.end = HEADROOM + own;
    d.buffer().writerIndex(d.end);
    memory.reserve(d.heldBytes());
    return d;
  }

  /**
   * Returns the bytes that the bus holds because of this delivery alone, if it is not in a slab.
   */
  private int heldBytes() {
    return size() - innerBytes;
  }

  private void begin(
      ByteBuf into, int at, DeliveryKind what, int frame, int eventCount, long received) {
    buffer = into;
    start = at + HEADROOM;
    end = start;
    frameBytes = frame;
    if (kind != what) {
      // The value is mostly the same, and writing a reference costs more than comparing it.
      kind = what;
    }
    events = eventCount;
    receivedNanos = received;
    references = 1;
    generation++;
  }

  /**
   * Returns the number of this use of the object: deliveries are recycled, so the object may be
   * another delivery later.
   */
  public int generation() {
    return generation;
  }

  /**
   * Returns whether this delivery shares its buffer with others, which it keeps from being
   * released.
   */
  public boolean isInSlab() {
    return slab != null;
  }

  /**
   * Creates a delivery of the same frame with a buffer of its own.
   *
   * @param account counts the bytes until the last release
   */
  public Delivery copy(ByteBufAllocator allocator, BusMemory account) {
    return copyTo(allocate(allocator, account, kind, frameBytes, events, receivedNanos));
  }

  /** Creates a delivery of the same frame elsewhere. */
  public Delivery copy(DeliveryAllocator to) {
    return copyTo(to.allocate(kind, frameBytes, events, receivedNanos));
  }

  /** Copies a delivery in a slab, which stands around no other. */
  private Delivery copyTo(Delivery d) {
    d.buffer().setBytes(d.start, buffer(), start, frameBytes);
    d.end += frameBytes;
    d.finish();
    return d;
  }

  /**
   * Creates a delivery from an encoded frame.
   *
   * @param memory counts the bytes until the last release
   * @param kind any but {@link DeliveryKind#EVENTS}
   * @param receivedNanos {@link System#nanoTime} now
   */
  public static Delivery of(
      ByteBufAllocator allocator,
      BusMemory memory,
      DeliveryKind kind,
      byte[] frame,
      long receivedNanos) {
    Delivery d = allocate(allocator, memory, kind, frame.length, 0, receivedNanos);
    d.append(ByteBuffer.wrap(frame));
    d.finish();
    return d;
  }

  private ByteBuf buffer() {
    ByteBuf b = buffer;
    if (b == null) {
      throw new IllegalStateException("the delivery was released");
    }
    return b;
  }

  /**
   * Returns a buffer with exactly the requested room for the frame, valid until {@link #finish}.
   */
  public ByteBuffer writable() {
    end = start + frameBytes;
    return buffer().internalNioBuffer(start, frameBytes);
  }

  /**
   * Appends bytes to the frame and consumes them, as an alternative to {@link #writable} that
   * creates no view of the buffer.
   */
  public void append(ByteBuffer bytes) {
    int length = bytes.remaining();
    checkRoom(length);
    buffer().setBytes(end, bytes);
    end += length;
  }

  private void checkRoom(int length) {
    int room = start + frameBytes - end;
    if (length > room) {
      throw new IndexOutOfBoundsException(length + " bytes (expected: <= " + room + ")");
    }
  }

  /** Appends a part of another buffer to the frame; its position and limit do not change. */
  public void append(ByteBuffer from, int index, int length) {
    int position = from.position();
    int limit = from.limit();
    append(from.limit(index + length).position(index));
    from.limit(limit).position(position);
  }

  /** Appends a part of another delivery's frame, which stands around no other, to the frame. */
  public void append(Delivery from, int index, int length) {
    checkRoom(length);
    buffer().setBytes(end, from.buffer(), from.start + index, length);
    end += length;
  }

  /**
   * Declares that the frame has been written.
   *
   * @throws IllegalStateException if a part of it is missing
   */
  public void finish() {
    int missing = start + frameBytes - end;
    if (missing != 0) {
      throw new IllegalStateException(missing + " bytes of the frame are missing");
    }
    ByteBuf b = buffer();
    if (slab == null) {
      b.writerIndex(end);
    }
  }

  /** Returns the frame for reading. */
  public ByteBuffer frame() {
    if (inner == null) {
      return buffer().nioBuffer(start, frameBytes);
    }
    ByteBuf whole = Unpooled.buffer(frameBytes, frameBytes);
    copyFrame(whole);
    return whole.nioBuffer();
  }

  /**
   * Returns the delivery that holds the events: topic, producer and sequence numbers are the same
   * in it.
   */
  public Delivery holder() {
    return inner == null ? this : inner;
  }

  /**
   * Returns a view of the frame, and of the end of the room in front of it, for writing to a
   * socket; it holds a reference of its own to the bytes.
   *
   * @param headBytes size of the part of that room, at most {@link #HEADROOM}; the caller fills it
   */
  public ByteBuf slice(int headBytes) {
    if (headBytes > HEADROOM) {
      throw new IllegalArgumentException(headBytes + " bytes (expected: <= " + HEADROOM + ")");
    }
    int from = start - headBytes;
    ByteBuf own = buffer();
    Delivery events = inner;
    if (events == null) {
      return own.retainedSlice(from, headBytes + frameBytes);
    }
    int afterHead = start + split;
    return own.alloc()
        .compositeBuffer(3)
        .addComponents(
            true,
            own.retainedSlice(from, headBytes + split),
            events.buffer().retainedSlice(events.start + innerFrom, innerBytes),
            own.retainedSlice(afterHead, end - afterHead));
  }

  /** Copies the frame to a buffer with room for {@link #frameBytes} bytes. */
  public void copyFrame(ByteBuf out) {
    Delivery events = inner;
    if (events == null) {
      out.writeBytes(buffer(), start, frameBytes);
      return;
    }
    out.writeBytes(buffer(), start, split);
    out.writeBytes(events.buffer(), events.start + innerFrom, innerBytes);
    out.writeBytes(buffer(), start + split, frameBytes - innerBytes - split);
  }

  /** Returns the size of the frame in bytes. */
  public int frameBytes() {
    return frameBytes;
  }

  /** Returns the bytes that the delivery counts for in a queue, overhead included. */
  public int size() {
    return HEADROOM + frameBytes + OVERHEAD;
  }

  /** Returns the memory that no other delivery holds too, overhead included. */
  int ownBytes() {
    return heldBytes() + OVERHEAD;
  }

  /** Returns the kind, which says what a queue may do with it. */
  public DeliveryKind kind() {
    return kind;
  }

  /** Returns the number of events; 0 for all kinds but {@link DeliveryKind#EVENTS}. */
  public int events() {
    return events;
  }

  /** Returns when the bus received its source, as {@link System#nanoTime}. */
  public long receivedNanos() {
    return receivedNanos;
  }

  /** Adds a reference; the caller, or who lends it the delivery, holds one already. */
  public void retain() {
    int before = (int) REFERENCES.getAndAdd(this, 1);
    if (before <= 0) {
      throw new IllegalStateException("references: " + before + " (expected: >= 1)");
    }
  }

  /** Releases a reference; the last one frees the bytes. */
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
    Delivery events = inner;
    int held = heldBytes();
    buffer = null;
    memory = null;
    slab = null;
    if (shared != null) {
      shared.release();
    } else {
      freed.release();
    }
    if (account != null) {
      account.release(held);
    }
    if (events != null) {
      inner = null;
      innerFrom = 0;
      innerBytes = 0;
      split = 0;
      events.release();
    }
    handle.recycle(this);
  }

  @Override
  public String toString() {
    return "Delivery["
        + kind
        + ", "
        + frameBytes
        + " bytes, "
        + events
        + " events, "
        + references
        + " references]";
  }
}
