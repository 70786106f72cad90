package io.eventbus.server.call;

import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.tunnel.TunnelEnding;
import io.eventbus.server.call.tunnel.TunnelHalf;
import io.eventbus.server.delivery.Delivery;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Queue of notes about calls from one loop to another: collected during a round of reads, then
 * handed over as one task. In order, and bounded by members' windows.
 *
 * <p>The source loop adds and flushes; the destination runs the batch. Batches and notes are
 * recycled, so that the steady state allocates nothing.
 */
final class CallHandOverQueue {
  /** Notes in one task, so that other work of the destination comes in between. */
  private static final int BATCH = 512;

  /** Unseen notes at the destination beyond which less urgent work waits. */
  private static final int MAX_UNSEEN = 128;

  /**
   * Time that a call, or its answer, costs the destination loop: 3.5 microseconds were measured
   * with two loops and 60,000 of them.
   */
  private static final long NOTE_NANOS = 3_500;

  /** Bytes of a body that are copied per nanosecond, by estimate. */
  private static final int BYTES_IN_A_NANO = 4;

  private static final Logger LOG = LoggerFactory.getLogger(CallHandOverQueue.class);

  /** Type of a note; determines which fields are set. */
  enum Kind {
    /** To the member's loop: dispatch. call, member. */
    INVOKE,
    /** To the member's loop: nobody waits any more. number, member, text, timedOut. */
    CANCEL,
    /** To the member's loop: resume after failures. member. */
    RESUME,
    /** To the caller's loop: call, handledMicros, tunnel (the member's), body. */
    REPLY,
    /** To the caller's loop: call, code, executed, retryAfterMillis, body. */
    FAILURE,
    /** To the caller's loop: call, returned. */
    RETURN,
    /** To a waiting loop: a place of the member, acquired for it. */
    PLACE,
    /** To all: the last member has gone. service. */
    UNSERVED,
    /** To all: calls for this member only can go nowhere. member. */
    MEMBER_GONE,
    /** To the other end's loop: tunnel (its end), number, last, body. */
    TUNNEL_DATA,
    /** To the other end's loop: tunnel (its end), number, received. */
    TUNNEL_CREDIT,
    /** To the other end's loop: tunnel (its end), ending. */
    TUNNEL_END
  }

  /** Single note. */
  static final class Note {
    Kind kind = Kind.INVOKE;
    @Nullable Call call;
    @Nullable ServiceMember member;
    @Nullable LocalService service;
    @Nullable Delivery body;
    @Nullable TunnelHalf tunnel;
    @Nullable TunnelEnding ending;
    long received;
    boolean last;
    ReturnReason returned = ReturnReason.LOST;
    FailureCode code = FailureCode.INTERNAL;
    Execution executed = Execution.UNKNOWN;
    String text = "";
    long number;
    long retryAfterMillis;
    int handledMicros;
    boolean timedOut;

    /** Clears references and releases the body. */
    private void clear() {
      Delivery content = body;
      call = null;
      member = null;
      service = null;
      body = null;
      tunnel = null;
      ending = null;
      text = "";
      if (content != null) {
        content.release();
      }
    }

    Call call() {
      return there(call);
    }

    ServiceMember member() {
      return there(member);
    }

    LocalService service() {
      return there(service);
    }

    TunnelHalf tunnel() {
      return there(tunnel);
    }

    TunnelEnding ending() {
      return there(ending);
    }

    /** Returns the body; the receiver owns the reference. */
    Delivery takeBody() {
      Delivery content = body();
      body = null;
      return content;
    }

    Delivery body() {
      return there(body);
    }

    private <T> T there(@Nullable T value) {
      if (value == null) {
        throw new IllegalStateException("note: " + kind + " (expected: one that has this)");
      }
      return value;
    }
  }

  private final class Batch implements Runnable {
    Note[] notes = new Note[16];
    int size;

    Note add() {
      if (size == notes.length) {
        notes = Arrays.copyOf(notes, size * 2);
      }
      Note note = notes[size];
      if (note == null) {
        note = new Note();
        notes[size] = note;
      }
      size++;
      return note;
    }

    @Override
    public void run() {
      int seen = size;
      OutOfMemoryError endOfHeap = null;
      try {
        for (int i = 0; i < seen; i++) {
          try {
            receive(notes[i]);
          } catch (OutOfMemoryError e) {
            endOfHeap = e;
          }
        }
      } finally {
        done();
        unseen.addAndGet(-seen);
      }
      if (endOfHeap != null) {
        throw endOfHeap;
      }
    }

    /**
     * Processes a note. A handler must not throw; if it does, the remaining notes are not affected.
     */
    private void receive(Note note) {
      try {
        to.receive(note);
      } catch (RuntimeException | Error e) {
        if (e instanceof OutOfMemoryError endOfHeap) {
          throw endOfHeap;
        }
        LOG.error("a note of another loop about a call could not be processed", e);
      }
    }

    private void done() {
      for (int i = 0; i < size; i++) {
        notes[i].clear();
      }
      size = 0;
      spare.set(this);
    }
  }

  private final LoopCalls to;
  private final Executor destination;
  private final AtomicReference<@Nullable Batch> spare = new AtomicReference<>();
  // Notes that were flushed and that the destination has not seen.
  private final AtomicInteger unseen = new AtomicInteger();
  private @Nullable Batch open;
  // Subjects of notes in the open batch that are sent only once; null for none.
  private @Nullable Set<Object> notified;

  CallHandOverQueue(LoopCalls to, Executor destination) {
    this.to = to;
    this.destination = destination;
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
  Note add(Kind kind) {
    Batch batch = open;
    if (batch != null && batch.size >= BATCH) {
      flush();
      batch = null;
    }
    if (batch == null) {
      batch = spare.getAndSet(null);
      if (batch == null) {
        batch = new Batch();
      }
      open = batch;
    }
    Note note = batch.add();
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

  /** Hands the added notes to the destination; source loop only. */
  void flush() {
    Batch batch = open;
    if (batch == null) {
      return;
    }
    open = null;
    notified = null;
    int flushed = batch.size;
    boolean taken = false;
    unseen.addAndGet(flushed);
    try {
      destination.execute(batch);
      taken = true;
    } catch (RejectedExecutionException e) {
      // The destination has ended, and with it every connection that this was for.
      batch.done();
      taken = true;
      unseen.addAndGet(-flushed);
    } finally {
      if (!taken) {
        // Kept for the next flush: nothing of it may be lost.
        open = batch;
        unseen.addAndGet(-flushed);
      }
    }
  }

  /**
   * Returns whether the destination is so far behind that less urgent work should wait; source loop
   * only.
   */
  boolean isBehind() {
    Batch batch = open;
    return unseen.get() + (batch == null ? 0 : batch.size) > MAX_UNSEEN;
  }
}
