package io.eventbus.server.routing;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.Recycler;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One frame on its way to any number of subscribers: built once, shared by reference, counted,
 * recycled.
 *
 * <p>In front of the frame there is room for what a transport puts before it, so that a large
 * delivery is written to all subscribers without a copy. Whoever writes it there may do so from any
 * thread and more than once, as long as these are always the same bytes.
 *
 * <p>A delivery for members of groups says in its tail which of their subscriptions it is for. With
 * large events it has only a head and a tail of its own, and {@linkplain #around stands around} the
 * events of another delivery, so that an event is held once however many groups it matches.
 *
 * <p>The maker owns one reference; {@link #retain} and {@link #release} may be called by any
 * thread, everything else is read-only after {@link #finish}.
 *
 * <p>It is one class because layout, reference count and recycling hold together: none is right
 * without the others.
 */
public final class Delivery {
  /** What a delivery costs beyond its bytes: this object, the buffer's, and a place in a queue. */
  static final int OVERHEAD = 128;

  /** The room in front of each frame, in bytes. */
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
  // Instead of the account, which does not count these bytes for themselves.
  private @Nullable DeliverySlab slab;
  // Where the frame starts in the buffer, and how far it has been written.
  private int start;
  private int end;
  private int frameBytes;
  private DeliveryKind kind = DeliveryKind.EVENTS;
  private int events;
  private long receivedNanos;
  private int generation;
  // Whose events this one shows, from where in its frame, and before which byte of this one's own.
  private @Nullable Delivery inner;
  private int innerFrom;
  private int innerBytes;
  private int split;

  private Delivery(Recycler.Handle<Delivery> handle) {
    this.handle = handle;
  }

  /**
   * Makes a delivery whose frame is still to be written with {@link #writable} and {@link #finish}.
   *
   * @param allocator where the buffer comes from
   * @param memory counts the bytes until the last release
   * @param events how many events it holds; 0 for all kinds but {@link DeliveryKind#EVENTS}
   * @param receivedNanos {@link System#nanoTime} when the bus received what it is made from
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

  /** As {@link #allocate}, at a place in a slab that was taken for it. */
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
   * Makes a delivery with a head and a tail of its own around events that another one holds.
   *
   * @param allocator where the buffer comes from
   * @param memory counts the bytes of head and tail until the last release
   * @param from where they start in its frame
   * @param bytes how many bytes of events
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

  /** What the bus holds because of this delivery alone, if it is not in a slab. */
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
      // Mostly it was the same, and writing a reference costs more than comparing it.
      kind = what;
    }
    events = eventCount;
    receivedNanos = received;
    references = 1;
    generation++;
  }

  /**
   * Says which use of this object it is: deliveries are recycled, so that the same object may be
   * another delivery later.
   */
  public int generation() {
    return generation;
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
   */
  public Delivery copy(ByteBufAllocator allocator, BusMemory account) {
    return copyTo(allocate(allocator, account, kind, frameBytes, events, receivedNanos));
  }

  /** Makes a delivery of the same frame elsewhere. */
  public Delivery copy(DeliveryAllocator to) {
    return copyTo(to.allocate(kind, frameBytes, events, receivedNanos));
  }

  /** For deliveries in slabs, which stand around no other. */
  private Delivery copyTo(Delivery d) {
    d.buffer().setBytes(d.start, buffer(), start, frameBytes);
    d.end += frameBytes;
    d.finish();
    return d;
  }

  /**
   * Makes a delivery from an encoded frame.
   *
   * @param allocator where the buffer comes from
   * @param memory counts the bytes until the last release
   * @param kind what the frame is; not {@link DeliveryKind#EVENTS}
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
   * Returns where the frame is to be written, until {@link #finish}.
   *
   * @return a buffer with exactly the room that was asked for; not to be kept
   */
  public ByteBuffer writable() {
    end = start + frameBytes;
    return buffer().internalNioBuffer(start, frameBytes);
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
    int room = start + frameBytes - end;
    if (length > room) {
      throw new IndexOutOfBoundsException(length + " bytes (expected: <= " + room + ")");
    }
  }

  /**
   * Adds a part of another buffer to the frame.
   *
   * @param from its position and limit are as before afterwards
   * @param index of the first byte
   */
  public void append(ByteBuffer from, int index, int length) {
    int position = from.position();
    int limit = from.limit();
    append(from.limit(index + length).position(index));
    from.limit(limit).position(position);
  }

  /**
   * Adds a part of another delivery, which stands around no other, to the frame.
   *
   * @param index of its first byte in that frame
   * @param length how many bytes
   */
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
   * Returns the frame, and the end of the room in front of it, for writing to a socket.
   *
   * @param headBytes how much of that room, at most {@link #HEADROOM}; the caller fills it
   * @return a view that holds a reference to the bytes of its own
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

  /**
   * Copies the frame.
   *
   * @param out takes {@link #frameBytes} bytes
   */
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
    return HEADROOM + frameBytes + OVERHEAD;
  }

  /** What it holds in memory that no other delivery holds too, overhead included. */
  int ownBytes() {
    return heldBytes() + OVERHEAD;
  }

  /**
   * Returns what the frame is.
   *
   * @return what a queue may do with it
   */
  public DeliveryKind kind() {
    return kind;
  }

  /**
   * Returns how many events the frame holds.
   *
   * @return 0 for all kinds but {@link DeliveryKind#EVENTS}
   */
  public int events() {
    return events;
  }

  /**
   * Returns when the bus received what this is made from.
   *
   * @return as {@link System#nanoTime}
   */
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
