package io.eventbus.link.stream;

import io.netty.buffer.ByteBuf;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Frames for the other end of a stream, over all its connections: numbered from 1 in the order in
 * which they are sent, kept until they are acknowledged, and sent again after a cut. The owner
 * bounds {@link #bytes}, gives up when the other end is away for too long, and starts anew when it
 * is another process. Confined to its loop.
 */
public final class ReliableStream<F extends StreamFrame> {
  /** Bytes that are copied together into one buffer. */
  private static final int BATCH_BYTES = 64 * 1024;

  /** Bytes from which bodies are written by reference. */
  private static final int LARGE_BYTES = 8 * 1024;

  /** Owner of a stream. Called on the loop; may add frames. */
  public interface Owner<F> {
    /** Returns the number of the last frame that may be sent now. */
    default long sendable() {
      return Long.MAX_VALUE;
    }

    /** Called when a frame is sent, also for the second time. */
    void onSent(F frame);

    /** Called when fewer bytes are kept than before. */
    default void onFreed() {}

    /** Called when a frame is dropped because nobody waits for it, before it is released. */
    default void onExpired(F frame) {}

    /** Writes what is to follow the frames; returns whether it did. */
    default boolean writeMore(StreamConnection to) {
      return false;
    }
  }

  private final StreamLoop loop;
  private final Owner<F> owner;
  private final FrameRing<F> sent = new FrameRing<>();
  private final FrameRing<F> unsent = new FrameRing<>();
  private @Nullable StreamConnection connection;
  // Number of the first kept frame, or of the next one.
  private long first = 1;
  private long bytes;
  private boolean drainScheduled;

  /** Creates a stream without frames. */
  public ReliableStream(StreamLoop loop, Owner<F> owner) {
    this.loop = loop;
    this.owner = owner;
  }

  /** Returns the bytes of the kept frames. */
  public long bytes() {
    return bytes;
  }

  public boolean isEmpty() {
    return sent.size() == 0 && unsent.size() == 0;
  }

  /** Returns the number of the first frame that is not acknowledged, or of the next one. */
  public long first() {
    return first;
  }

  /** Returns the number of the last frame that was sent on this connection or is not to be. */
  public long lastSent() {
    return first + sent.size() - 1;
  }

  /** Returns the number of the last frame, if none expires before it is sent. */
  public long last() {
    return lastSent() + unsent.size();
  }

  /** Returns whether frames are sent without delay. */
  public boolean isFlowing() {
    StreamConnection to = connection;
    return to != null && to.isWritable();
  }

  /** Keeps a frame, and sends it soon. */
  public void add(F frame) {
    unsent.addLast(frame);
    bytes += frame.keptBytes();
    drainSoon();
  }

  /**
   * Continues on a connection after the frames that the other end has taken. Returns how many are
   * sent again.
   */
  public long up(StreamConnection by, long taken) {
    long again = Math.min(lastSent() - taken, sent.size());
    for (long i = again; i > 0; i--) {
      unsent.addFirst(sent.removeLast());
    }
    connection = by;
    drainSoon();
    return Math.max(0, again);
  }

  /** Stops sending until there is another connection. */
  public void down() {
    connection = null;
  }

  /** Schedules a drain, if there is a connection. */
  public void drainSoon() {
    if (!drainScheduled && connection != null) {
      drainScheduled = true;
      loop.drainSoon(this);
    }
  }

  /** Returns whether a drain will come soon. */
  public boolean isDrainScheduled() {
    return drainScheduled;
  }

  /** Writes as much as the socket takes. */
  void drain() {
    drainScheduled = false;
    StreamConnection to = connection;
    if (to == null) {
      return;
    }
    try {
      boolean wrote = false;
      while (to.isWritable() && hasSendable()) {
        write(to);
        wrote = true;
      }
      wrote |= owner.writeMore(to);
      if (wrote) {
        to.flush();
      }
    } catch (RuntimeException | Error e) {
      to.fail(e);
    }
  }

  /** Returns whether there is a frame to send; drops those before it that nobody waits for. */
  private boolean hasSendable() {
    while (unsent.size() > 0 && unsent.get(0).isExpired(loop.nanoTime())) {
      F expired = unsent.removeFirst();
      owner.onExpired(expired);
      free(expired);
    }
    return unsent.size() > 0 && lastSent() < owner.sendable();
  }

  /** Writes one frame or more. */
  private void write(StreamConnection to) {
    long now = loop.nanoTime();
    long max = Math.min(unsent.size(), owner.sendable() - lastSent());
    int count = 0;
    int size = 0;
    boolean isLarge = false;
    while (!isLarge && count < max) {
      F frame = unsent.get(count);
      boolean large = frame.bodyBytes() > LARGE_BYTES;
      int more = frame.headBytes() + (large ? 0 : frame.bodyBytes());
      if (count > 0 && (size + more > BATCH_BYTES || frame.isExpired(now))) {
        break;
      }
      isLarge = large;
      size += more;
      count++;
    }
    ByteBuf out = to.alloc().directBuffer(size);
    ByteBuf body = null;
    try {
      for (int i = 0; i < count; i++) {
        F frame = unsent.get(i);
        frame.writeHead(out, now);
        if (isLarge && i == count - 1) {
          body = frame.body();
        } else {
          frame.writeBody(out);
        }
      }
    } catch (RuntimeException | Error e) {
      out.release();
      throw e;
    }
    to.write(out);
    if (body != null) {
      to.write(body);
    }
    for (; count > 0; count--) {
      F frame = unsent.removeFirst();
      sent.addLast(frame);
      owner.onSent(frame);
    }
  }

  /**
   * Handles the acknowledgement of all frames up to a number: they are not kept any more.
   *
   * @throws IllegalArgumentException if they were not sent
   */
  public void acknowledge(long number) {
    check(number, number);
    while (first <= number) {
      F frame = sent.removeFirst();
      first++;
      frame.onAcknowledged();
      free(frame);
    }
    owner.onFreed();
  }

  /**
   * Handles the acknowledgement of frames after some that are not acknowledged: whoever waits for
   * them need not wait for those.
   *
   * @throws IllegalArgumentException if they were not sent
   */
  public void acknowledge(long from, long to) {
    check(from, to);
    for (long number = Math.max(from, first); number <= to; number++) {
      sent.get((int) (number - first)).onAcknowledged();
    }
  }

  private void check(long from, long to) {
    if (from > to || to > lastSent()) {
      throw new IllegalArgumentException(
          "acknowledged: "
              + from
              + " to "
              + to
              + " (expected: at most "
              + lastSent()
              + ", which was sent)");
    }
  }

  private void free(F frame) {
    bytes -= frame.keptBytes();
    frame.release();
  }

  /** Runs a task for each kept frame, in order. */
  public void forEach(Consumer<F> task) {
    for (int i = 0; i < sent.size(); i++) {
      task.accept(sent.get(i));
    }
    for (int i = 0; i < unsent.size(); i++) {
      task.accept(unsent.get(i));
    }
  }

  /** Removes frames that are not sent, or are to be sent again, and meet a condition. */
  public void removeUnsent(Predicate<F> condition) {
    unsent.removeIf(
        frame -> {
          boolean remove = condition.test(frame);
          if (remove) {
            free(frame);
          }
          return remove;
        });
  }

  /**
   * Drops all frames: the other end is given up, or another process. Later frames have the numbers
   * after them.
   *
   * @param dropped called with each, before it is released
   */
  public void dropAll(Consumer<F> dropped) {
    while (!isEmpty()) {
      F frame = sent.size() > 0 ? sent.removeFirst() : unsent.removeFirst();
      first++;
      dropped.accept(frame);
      free(frame);
    }
    owner.onFreed();
  }

  /** Starts anew: keeps nothing, and numbers frames from 1. */
  public void restart() {
    dropAll(frame -> {});
    first = 1;
  }

  /** Returns memory that an earlier backlog has needed. */
  public void trim() {
    sent.trim();
    unsent.trim();
  }
}
