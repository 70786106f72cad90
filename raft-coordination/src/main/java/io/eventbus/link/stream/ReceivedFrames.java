package io.eventbus.link.stream;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Frames that the other end of a stream has sent, over all its connections, and how far they are
 * acknowledged. A frame is taken when it is handled, and settled when nothing of it is lost any
 * more but with this bus. It is acknowledged then, unless its owner holds it back for longer.
 * Confined to its loop.
 */
public final class ReceivedFrames {
  /** Frame whose acknowledgement waits for more than that it is settled. */
  public interface Held {
    /** Returns the number of the frame. */
    long number();

    /** Returns whether it may be acknowledged; stays true from then on. */
    boolean isDone();
  }

  private final StreamLoop loop;
  private final long dueFrames;
  private final Consumer<Runnable> settler;
  private final Deque<Held> held = new ArrayDeque<>();
  private @Nullable StreamConnection connection;
  private long taken;
  private long settled;
  private long acknowledged;
  // Number up to which everything will be settled soon; 0 for none.
  private long settling;
  private boolean again;
  private boolean timer;

  /**
   * Creates the count of a stream on which nothing has come.
   *
   * @param dueFrames number of frames after which an acknowledgement does not wait for more
   * @param settler runs a task on the loop when all frames that are taken now are settled
   */
  public ReceivedFrames(StreamLoop loop, long dueFrames, Consumer<Runnable> settler) {
    this.loop = loop;
    this.dueFrames = dueFrames;
    this.settler = settler;
  }

  /** Returns the number of the last frame that was taken. */
  public long taken() {
    return taken;
  }

  /** Counts the next frame, which is handled, or about to be. */
  public void take() {
    taken++;
  }

  /** Holds back the acknowledgement of the frame that was taken last. */
  public void hold(Held frame) {
    held.add(frame);
  }

  /** Restarts the count: the next frame has the number after this one. */
  public void restart(long last) {
    taken = last;
    settled = last;
    acknowledged = last;
    settling = 0;
    held.clear();
  }

  /** Handles that the other end keeps nothing up to a number, and perhaps everything after it. */
  public void skipTo(long last) {
    taken = Math.max(taken, last);
    // Acknowledgements on the connection before may not have arrived.
    acknowledged = Math.min(acknowledged, last);
  }

  /** Counts all that was taken as acknowledged, because the other end has been told of it. */
  public void told() {
    settled = taken;
    acknowledged = taken;
  }

  /** Continues on a connection; returns the one before, null for none. */
  public @Nullable StreamConnection up(StreamConnection by) {
    StreamConnection before = connection;
    connection = by;
    return before;
  }

  /** Returns whether frames of a connection count: it is the newest one. */
  public boolean isBy(StreamConnection candidate) {
    return candidate == connection;
  }

  /** Stops acknowledging until there is another connection. */
  public void down() {
    connection = null;
  }

  /** Acknowledges again what the other end may not have heard on the connection before. */
  public void repeat() {
    acknowledgeBehind(acknowledged + 1);
    settle();
  }

  /** Called when a frame that was held back is done. */
  public void onDone(Held frame) {
    acknowledge();
    StreamConnection to = connection;
    long number = frame.number();
    if (number > acknowledged && number <= settled && to != null) {
      acknowledgeRange(to, number, number);
      to.flush();
    }
  }

  /** Called when all received frames were taken; acknowledges soon. */
  public void onReadEnd() {
    if (taken == settled || settling != 0) {
      return;
    }
    if (taken - settled >= dueFrames) {
      settle();
    } else if (!timer) {
      timer = true;
      loop.later(
          () -> {
            timer = false;
            settle();
          });
    }
  }

  /** Acknowledges all that is taken now as soon as it is settled. */
  public void settle() {
    if (settling != 0) {
      again = true;
      return;
    }
    if (taken == settled) {
      acknowledge();
      return;
    }
    long upTo = taken;
    settling = upTo;
    settler.accept(() -> settled(upTo));
  }

  private void settled(long upTo) {
    if (settling != upTo) {
      return;
    }
    settling = 0;
    long before = settled;
    settled = upTo;
    acknowledge();
    acknowledgeBehind(before + 1);
    if (again) {
      again = false;
      settle();
    } else {
      onReadEnd();
    }
  }

  private void acknowledge() {
    for (Held first = held.peek(); first != null && first.isDone(); first = held.peek()) {
      held.remove();
    }
    Held waiting = held.peek();
    long upTo = waiting == null ? settled : Math.min(settled, waiting.number() - 1);
    StreamConnection to = connection;
    if (upTo > acknowledged && to != null) {
      acknowledged = upTo;
      to.write(StreamFrames.encode(StreamFrames.ACK, upTo));
      to.flush();
    }
  }

  /** Acknowledges frames after one that is still held back. */
  private void acknowledgeBehind(long from) {
    StreamConnection to = connection;
    if (to == null || held.isEmpty()) {
      return;
    }
    long next = Math.max(from, acknowledged + 1);
    for (Held frame : held) {
      if (frame.number() > settled) {
        break;
      }
      if (frame.number() >= next && !frame.isDone()) {
        acknowledgeRange(to, next, frame.number() - 1);
        next = frame.number() + 1;
      }
    }
    acknowledgeRange(to, next, settled);
    to.flush();
  }

  private static void acknowledgeRange(StreamConnection to, long from, long upTo) {
    if (from <= upTo) {
      to.write(StreamFrames.encode(StreamFrames.ACK_RANGE, from, upTo));
    }
  }
}
