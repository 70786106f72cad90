package io.eventbus.client.internal.outbound;

import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.Frames;
import io.eventbus.protocol.PublishView;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToLongBiFunction;

/**
 * WebSocket message on its way out: whole frames, and, for frames that ask for a confirmation, the
 * data to send them again. Guarded by the {@link Outbox}'s lock.
 */
public final class Batch {
  /** Number that stands for "no barrier". */
  static final long NO_BARRIER = -1;

  final List<PublishFrame> frames;
  // Events without a waiting caller, and their share of the outbound buffer.
  final int plainEvents;
  final long plainCost;
  final long barrier;
  byte[] array;
  int length;
  boolean resend;
  // Number of events without a stage that were sent before this barrier.
  long plainBefore;
  // As in OpenBatch.
  long number;

  Batch(byte[] array, int length, List<PublishFrame> frames, int plainEvents, long plainCost) {
    this(array, length, frames, plainEvents, plainCost, NO_BARRIER);
  }

  private Batch(
      byte[] array,
      int length,
      List<PublishFrame> frames,
      int plainEvents,
      long plainCost,
      long barrier) {
    this.array = array;
    this.length = length;
    this.frames = frames;
    this.plainEvents = plainEvents;
    this.plainCost = plainCost;
    this.barrier = barrier;
  }

  static Batch ofBarrier(byte[] frame, long id) {
    return new Batch(frame, frame.length, List.of(), 0, 0, id);
  }

  boolean isBarrier() {
    return barrier != NO_BARRIER;
  }

  ByteBuffer message() {
    return ByteBuffer.wrap(array, 0, length);
  }

  /** Returns the number of events in frames that the bus has not confirmed. */
  int unconfirmedEvents() {
    return frames.stream()
        .filter(frame -> !frame.settled && !frame.marker)
        .mapToInt(frame -> frame.eventCount)
        .sum();
  }

  /** Returns whether nothing in here would have to be sent again. */
  boolean isSettled() {
    for (PublishFrame frame : frames) {
      if (!frame.settled && !frame.marker) {
        return false;
      }
    }
    return true;
  }

  /** Returns the frames that still wait for a confirmation, in an array of their own. */
  Batch unsettledCopy() {
    List<PublishFrame> left = new ArrayList<>(frames.size());
    int bytes = 0;
    for (PublishFrame frame : frames) {
      if (!frame.settled && !frame.marker) {
        left.add(frame);
        bytes += frame.length;
      }
    }
    byte[] copy = new byte[bytes];
    int at = 0;
    for (PublishFrame frame : left) {
      System.arraycopy(array, frame.start, copy, at, frame.length);
      frame.start = at;
      at += frame.length;
    }
    return new Batch(copy, bytes, left, 0, 0);
  }

  /** Gives the frames new sequence numbers. */
  void resequence(ToLongBiFunction<String, Integer> sequenceFor) {
    ByteBuffer in = ByteBuffer.wrap(array, 0, length);
    // A sequence takes at most 9 bytes more than before, and so may the length of a body, in short.
    FrameCursor cursor = new FrameCursor().wrap(in, 0, length);
    int count = 0;
    while (cursor.next()) {
      count++;
    }
    ByteBuffer out = ByteBuffer.allocate(length + 16 * count);
    PublishView view = new PublishView();
    cursor.wrap(in, 0, length);
    int next = 0;
    while (cursor.next()) {
      view.read(in, cursor.bodyStart(), cursor.bodyEnd(), FrameLimits.UNLIMITED);
      int start = out.position();
      byte[] topic =
          Arrays.copyOfRange(array, view.topicStart(), view.topicStart() + view.topicLength());
      long sequence = sequenceFor.applyAsLong(view.topic(), view.eventCount());
      DurableWish wish = DurableWish.of(view);
      Frames.writePublishHead(
          out,
          topic,
          sequence,
          view.schema(),
          view.confirm(),
          view.eventCount(),
          view.eventBytes(),
          DurableWish.bytes(wish));
      // Our own frames hold one block, so that the events end one byte before the array does.
      int eventsEnd = view.eventsInPlace() + view.eventsSize() - 1;
      out.put(array, eventsEnd - view.eventBytes(), view.eventBytes()).put((byte) 0);
      DurableWish.write(wish, out);
      if (next < frames.size() && frames.get(next).start == cursor.frameStart()) {
        PublishFrame frame = frames.get(next++);
        frame.firstSequence = sequence;
        frame.start = start;
        frame.length = out.position() - start;
      }
    }
    array = out.array();
    length = out.position();
  }
}
