package io.eventbus.server.durable;

import io.eventbus.journal.SlotState;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.Frames;
import java.nio.ByteBuffer;

/**
 * Walk over the events of {@code Deliver} frames from a position on, with the slot of each: that of
 * its key or, without one, of its topic. For one thread; valid while the frames are.
 */
final class KeyedEvents {
  private final ByteBuffer in;
  private final long from;
  private final FrameCursor frame = new FrameCursor();
  private final DeliverView deliver = new DeliverView();
  private final EventCursor event = new EventCursor();
  private int nextFrame;
  private boolean inFrame;

  /**
   * Creates a walk.
   *
   * @param frames stored frames, back to back, from position to limit
   * @param from the first position that is wanted
   */
  KeyedEvents(ByteBuffer frames, long from) {
    in = frames;
    this.from = from;
    nextFrame = frames.position();
  }

  /** Moves to the next event; returns false if there is none. */
  boolean next() {
    while (true) {
      while (inFrame && event.next()) {
        if (position() >= from) {
          return true;
        }
      }
      if (!openFrame()) {
        return false;
      }
    }
  }

  /** Opens the next frame that has events of the range; returns false if there is none. */
  private boolean openFrame() {
    do {
      frame.wrap(in, nextFrame, in.limit());
      if (!frame.next()) {
        return false;
      }
      nextFrame = frame.bodyEnd();
      deliver.readOneBlock(in, frame.bodyStart(), frame.bodyEnd());
    } while (deliver.offset() + deliver.eventCount() <= from);
    event.wrap(
        in, deliver.eventsStart(), deliver.eventsEnd(), FrameLimits.UNLIMITED, frame.bodyStart());
    inFrame = true;
    return true;
  }

  long position() {
    return deliver.offset() + event.index();
  }

  int slot() {
    return event.keyLength() < 0
        ? SlotState.slotOf(in, deliver.topicStart(), deliver.topicLength())
        : SlotState.slotOf(in, event.keyStart(), event.keyLength());
  }

  /** Returns a frame with the event alone, from position to limit. */
  ByteBuffer frame() {
    int bytes = event.eventEnd() - event.eventStart();
    ByteBuffer out =
        ByteBuffer.allocate(Frames.partialDeliverSize(deliver, event.index(), 1, bytes));
    Frames.writeSingleDeliver(out, in, deliver, event);
    return out.flip();
  }
}
