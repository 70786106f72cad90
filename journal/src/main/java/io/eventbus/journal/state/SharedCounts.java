package io.eventbus.journal.state;

import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.Varint;
import java.nio.ByteBuffer;

/**
 * Figures of a shared cursor. Each position up to the head is settled, in flight, waiting or dead.
 *
 * @param head every position up to this one was taken by a consumer
 * @param consumers number of consumers
 * @param inFlight number of events that these have taken and not settled
 * @param waiting number of events that were given back
 * @param waitingFrom time before which none of these is due, 0 if there are none: a consumer does
 *     not look at what is gone
 * @param dead number of events that no consumer gets any more
 */
public record SharedCounts(
    long head, int consumers, long inFlight, long waiting, long waitingFrom, long dead) {
  /** Figures of an exclusive cursor. */
  static final SharedCounts NONE = new SharedCounts(0, 0, 0, 0, 0, 0);

  /** Size of the stored figures, in bytes. */
  static final int MAX_BYTES = 6 * Varint.MAX_BYTES;

  /** Returns the figures of a cursor of which nothing was taken. */
  static SharedCounts from(long head) {
    return new SharedCounts(head, 0, 0, 0, 0, 0);
  }

  static SharedCounts read(BodyReader in) {
    return new SharedCounts(
        RowFormat.readNumber(in, "head", 0, Long.MAX_VALUE),
        (int) RowFormat.readNumber(in, "consumers", 0, Integer.MAX_VALUE),
        RowFormat.readNumber(in, "inFlight", 0, Long.MAX_VALUE),
        RowFormat.readNumber(in, "waiting", 0, Long.MAX_VALUE),
        RowFormat.readNumber(in, "waitingFrom", 0, Long.MAX_VALUE),
        RowFormat.readNumber(in, "dead", 0, Long.MAX_VALUE));
  }

  void write(ByteBuffer out) {
    Varint.write(out, head);
    Varint.write(out, consumers);
    Varint.write(out, inFlight);
    Varint.write(out, waiting);
    Varint.write(out, waitingFrom);
    Varint.write(out, dead);
  }

  /** Returns whether all events that were taken are settled. */
  boolean isSettled() {
    return inFlight == 0 && waiting == 0 && dead == 0;
  }

  SharedCounts withConsumers(int now) {
    return new SharedCounts(head, now, inFlight, waiting, waitingFrom, dead);
  }
}
