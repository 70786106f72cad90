package io.eventbus.client.internal.durable;

import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.internal.inbound.DeliveredEvent;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.TypeCode;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Walk over the events of {@link FedItem.Events}; reused. For one thread at a time. */
final class FedEvents {
  private final FrameCursor frames = new FrameCursor();
  private final DeliverView deliver = new DeliverView();
  private FedItem.@Nullable Events item;
  private @Nullable EventCursor events;
  private String topic = "";

  void begin(FedItem.Events fed) {
    item = fed;
    events = null;
    frames.wrap(fed.message(), fed.start(), fed.end());
  }

  /** Returns the next event that is new; null if there is none. */
  @Nullable ReceivedEvent next() {
    FedItem.Events fed = item;
    while (fed != null) {
      EventCursor cursor = events;
      if (cursor != null && cursor.next()) {
        if (deliver.offset() + cursor.index() > fed.known()) {
          return new DeliveredEvent(fed.message(), cursor, topic, deliver);
        }
      } else if (frames.next()) {
        events = null;
        if (frames.typeCode() == TypeCode.DELIVER.code()) {
          read(fed.message());
        }
      } else {
        item = null;
        events = null;
        return null;
      }
    }
    return null;
  }

  private void read(ByteBuffer message) {
    deliver.read(message, frames.bodyStart(), frames.bodyEnd(), FrameLimits.UNLIMITED);
    topic = deliver.topic();
    events = deliver.events();
  }

  /**
   * Checks frames that have just come; frames of later versions are skipped.
   *
   * @param known every event up to this position came before
   * @return how many events came before
   * @throws io.eventbus.protocol.MalformedFrameException if a frame is malformed
   */
  static int check(DeliverView view, ByteBuffer message, int start, int end, long known) {
    FrameCursor frames = new FrameCursor().wrap(message, start, end);
    int again = 0;
    while (frames.next()) {
      if (frames.typeCode() == TypeCode.DELIVER.code()) {
        view.read(message, frames.bodyStart(), frames.bodyEnd(), FrameLimits.UNLIMITED);
        long before = known - view.offset() + 1;
        again += (int) Math.max(0, Math.min(view.eventCount(), before));
      }
    }
    return again;
  }
}
