package io.eventbus.journal.chunk;

import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.EventCursor;

/** Removal of events from a chunk, whose positions stay as they are. For one thread. */
public final class ChunkPurge {
  /** Choice of the events that are removed. */
  public interface Rule {
    /** Returns whether the event of a topic at a position is removed. */
    boolean removes(long topic, long position);
  }

  private final DeliverView deliver = new DeliverView();
  private final BodyReader in = new BodyReader();

  /** Creates a purge. */
  public ChunkPurge() {}

  /**
   * Writes a chunk anew without the events that a rule names. The sink of the writer gets exactly
   * one chunk, which covers the same positions, even if no event is left or none is removed.
   *
   * @param view the chunk, read before; its walk is used
   * @param writer not in the middle of other chunks
   */
  public void rewrite(ChunkView view, Rule rule, ChunkWriter writer) {
    writer.beginWhole(view.journal(), view.firstPosition(), view.stamp());
    view.rewind();
    while (view.next()) {
      skipTo(view.position(), writer);
      int removed = countRemoved(view, rule);
      if (removed == 0) {
        writer.copy(view);
      } else if (removed == view.events()) {
        writer.skip(removed);
      } else {
        copyPart(view, rule, writer);
      }
    }
    skipTo(view.lastPosition() + 1, writer);
    writer.end();
  }

  private static void skipTo(long position, ChunkWriter writer) {
    writer.skip((int) (position - writer.position()));
  }

  private static int countRemoved(ChunkView view, Rule rule) {
    int removed = 0;
    for (int i = 0; i < view.events(); i++) {
      if (rule.removes(view.topic(), view.position() + i)) {
        removed++;
      }
    }
    return removed;
  }

  /** Appends each run of events that stays as a part of its own. */
  private void copyPart(ChunkView view, Rule rule, ChunkWriter writer) {
    FrameHead head = readHead(view);
    EventCursor cursor = deliver.events();
    int runStart = 0;
    int run = 0;
    while (cursor.next()) {
      int index = cursor.index();
      if (rule.removes(view.topic(), view.position() + index)) {
        append(view, writer, head, index - run, run, runStart, cursor.eventStart());
        run = 0;
        writer.skip(1);
      } else {
        runStart = run == 0 ? cursor.eventStart() : runStart;
        run++;
      }
    }
    // The end mark of the array takes one byte.
    append(view, writer, head, view.events() - run, run, runStart, deliver.eventsEnd() - 1);
  }

  private static void append(
      ChunkView view, ChunkWriter writer, FrameHead head, int first, int run, int from, int to) {
    if (run > 0) {
      writer.append(head.after(first), run, view.chunk(), from, to);
    }
  }

  private FrameHead readHead(ChunkView view) {
    in.wrap(view.chunk(), view.frameStart(), view.frameEnd());
    in.readInt("type");
    in.readLength("body", Integer.MAX_VALUE);
    deliver.readOneBlock(view.chunk(), in.position(), view.frameEnd());
    byte[] topic = new byte[deliver.topicLength()];
    view.chunk().get(deliver.topicStart(), topic);
    // No groups: one byte.
    in.position(deliver.eventsEnd() + 1);
    return new FrameHead(
        view.topic(),
        topic,
        deliver.sequence(),
        deliver.schema(),
        deliver.receivedAt(),
        in.readLong("originProducer"),
        in.readLong("originSequence"),
        view.expiry());
  }
}
