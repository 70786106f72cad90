package io.eventbus.server.call;

import io.eventbus.server.delivery.HandOverQueue;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Queue of notes about calls from one loop to another, bounded by members' windows. {@link #isFull}
 * says that the destination is so far behind that less urgent work should wait.
 */
final class CallHandOver extends HandOverQueue<CallNote> {
  /** Notes that the destination has not seen beyond which less urgent work waits. */
  private static final int MAX_UNSEEN = 128;

  /**
   * Time that a call, or its answer, costs the destination loop: 3.5 microseconds were measured
   * with two loops and 60,000 of them.
   */
  private static final long NOTE_NANOS = 3_500;

  /** Bytes of a body that are copied per nanosecond, by estimate. */
  private static final int BYTES_IN_A_NANO = 4;

  private final LoopCalls to;
  // Subjects of notes in the open batch that are sent only once; null for none.
  private @Nullable Set<Object> notified;

  CallHandOver(LoopCalls to, Executor destination) {
    super(destination, MAX_UNSEEN);
    this.to = to;
  }

  /**
   * Returns the estimated nanoseconds that a call or its answer costs the destination; charged to
   * the sending client.
   *
   * @param bytes bytes of its body
   */
  static long nanos(int bytes) {
    return NOTE_NANOS + bytes / BYTES_IN_A_NANO;
  }

  /** Returns a note to fill in before anything else is done; source loop only. */
  CallNote add(CallNote.Kind kind) {
    // Before, because the last note is filled in after it was added.
    flushIfLarge();
    CallNote note = append(1, 1);
    note.kind = kind;
    return note;
  }

  /**
   * Returns whether the open batch has no note about the subject yet, which the caller is about to
   * add; source loop only.
   */
  boolean isFirst(Object subject) {
    Set<Object> already = notified;
    if (already == null) {
      already = Collections.newSetFromMap(new IdentityHashMap<>(4));
      notified = already;
    }
    return already.add(subject);
  }

  @Override
  public void flush() {
    if (!isFlushed()) {
      notified = null;
    }
    super.flush();
  }

  @Override
  protected CallNote create() {
    return new CallNote();
  }

  @Override
  protected void process(CallNote note) {
    to.receive(note);
  }

  @Override
  protected void clear(CallNote note) {
    note.clear();
  }
}
