package io.eventbus.protocol;

import io.eventbus.schema.Ask;
import io.eventbus.schema.Consume;
import io.eventbus.schema.ConsumeMode;
import io.eventbus.schema.ConsumeStart;
import io.eventbus.schema.Settle;
import io.eventbus.schema.SettleOutcome;
import io.eventbus.schema.Told;
import io.eventbus.schema.Truncated;
import io.eventbus.schema.TruncatedReason;
import java.nio.ByteBuffer;

/**
 * Reader of the frames of durable topics, by the rules of {@link ControlFrames}, which writes them;
 * and writer of the head of a {@code Feed}, which allocates nothing. Stateless; any thread.
 */
public final class DurableFrames {
  private DurableFrames() {}

  static long readPosition(BodyReader in, String field) {
    return readEnd(in, field, 1);
  }

  /** Reads a position that may not be less than another number. */
  static long readEnd(BodyReader in, String field, long min) {
    int at = in.position();
    long position = in.readLong(field);
    if (position < min) {
      throw in.malformed(field, at, position, "at least " + min);
    }
    return position;
  }

  /**
   * Reads a {@code Consume}. Filter and names are valid UTF-8, but may be illegal.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record; a mode or start that this version does not know is UNKNOWN
   */
  public static Consume consume(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    return new Consume(
        in.readLong("Consume.id"),
        in.readString("Consume.filter", Topic.MAX_BYTES),
        in.readString("Consume.journal", FrameLimits.MAX_JOURNAL_BYTES),
        in.readString("Consume.name", FrameLimits.MAX_JOURNAL_BYTES),
        ControlFrames.symbol(in, "Consume.mode", ConsumeMode.values(), ConsumeMode.UNKNOWN),
        start(in, "Consume.start"),
        in.readOffset("Consume.from"),
        in.readOffset("Consume.limit"),
        in.atEnd() ? 0 : in.readOffset("Consume.creation"),
        in.atEnd() ? ConsumeStart.UNKNOWN : start(in, "Consume.otherStart"),
        in.atEnd() ? 0 : in.readOffset("Consume.otherFrom"),
        in.atEnd() ? 0 : in.readCount("Consume.maxEvents"),
        in.atEnd() ? 0 : in.readCount("Consume.ackTimeoutMillis"),
        in.atEnd() ? 0 : in.readCount("Consume.maxAttempts"));
  }

  private static ConsumeStart start(BodyReader in, String field) {
    return ControlFrames.symbol(in, field, ConsumeStart.values(), ConsumeStart.UNKNOWN);
  }

  /**
   * Reads a {@code Settle}.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record; upTo is 1 or more, from is at most upTo; an outcome that this version does
   *     not know is UNKNOWN
   */
  public static Settle settle(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    long id = in.readLong("Settle.id");
    long upTo = readPosition(in, "Settle.upTo");
    return new Settle(
        id,
        upTo,
        in.readBoolean("Settle.confirm"),
        in.atEnd() ? 0 : in.readOffset("Settle.creation"),
        in.atEnd() ? 0 : settledFrom(in, upTo),
        in.atEnd() ? SettleOutcome.DONE : outcome(in),
        in.atEnd() ? 0 : in.readCount("Settle.attempt"),
        in.atEnd() ? -1 : delay(in),
        in.atEnd() ? "" : in.readString("Settle.reason", FrameLimits.MAX_REASON_BYTES));
  }

  private static long settledFrom(BodyReader in, long upTo) {
    int at = in.position();
    long from = in.readOffset("Settle.from");
    if (from > upTo) {
      throw in.malformed("Settle.from", at, from, "at most " + upTo);
    }
    return from;
  }

  private static SettleOutcome outcome(BodyReader in) {
    return ControlFrames.symbol(
        in, "Settle.outcome", SettleOutcome.values(), SettleOutcome.UNKNOWN);
  }

  private static int delay(BodyReader in) {
    int at = in.position();
    int millis = in.readInt("Settle.delayMillis");
    if (millis < -1) {
      throw in.malformed("Settle.delayMillis", at, millis, "at least -1");
    }
    return millis;
  }

  /**
   * Makes the {@code Settle} of a consumer that gets all events of its subscription.
   *
   * @param id the consumer
   * @param upTo a position
   * @param confirm whether the bus is to answer
   * @param creation of the journal; 0 for any
   * @return a new record
   */
  public static Settle settleUpTo(long id, long upTo, boolean confirm, long creation) {
    return new Settle(id, upTo, confirm, creation, 0L, SettleOutcome.DONE, 0, -1, "");
  }

  /**
   * Reads an {@code Ask}. Topic and names are valid UTF-8, but may be illegal.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record
   */
  public static Ask ask(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    return new Ask(
        in.readLong("Ask.id"),
        in.readString("Ask.journal", FrameLimits.MAX_JOURNAL_BYTES),
        in.readString("Ask.topic", Topic.MAX_BYTES),
        in.readString("Ask.name", FrameLimits.MAX_JOURNAL_BYTES),
        in.readOffset("Ask.time"));
  }

  /**
   * Reads a {@code Told}.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record
   */
  public static Told told(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    return new Told(
        in.readLong("Told.id"),
        in.readString("Told.journal", FrameLimits.MAX_JOURNAL_BYTES),
        in.readLong("Told.first"),
        in.readLong("Told.last"),
        in.readLong("Told.topicLast"),
        in.readLong("Told.atTime"),
        in.readLong("Told.settled"));
  }

  /**
   * Reads a {@code Truncated}.
   *
   * @param buf holds the body
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @return the record; a reason that this version does not know is UNKNOWN
   */
  public static Truncated truncated(ByteBuffer buf, int from, int to) {
    BodyReader in = new BodyReader().wrap(buf, from, to);
    long id = in.readLong("Truncated.id");
    long first = readPosition(in, "Truncated.from");
    return new Truncated(
        id,
        first,
        readEnd(in, "Truncated.to", first),
        ControlFrames.symbol(
            in, "Truncated.reason", TruncatedReason.values(), TruncatedReason.UNKNOWN));
  }

  /**
   * Measures a {@code Feed}.
   *
   * @param id the consumer
   * @param from the first position that it covers
   * @param to the last one
   * @param head the last position of the journal
   * @param frameBytes bytes of the {@code Deliver} frames in it
   * @param attempt number of the delivery; 0 for none, which takes no byte
   * @return bytes of the frame
   */
  public static int feedSize(long id, long from, long to, long head, int frameBytes, int attempt) {
    int body = feedBodySize(id, from, to, head, frameBytes, attempt);
    return Frames.headSize(TypeCode.FEED, body) + body;
  }

  private static int feedBodySize(
      long id, long from, long to, long head, int frameBytes, int attempt) {
    return Varint.size(id)
        + Varint.size(from)
        + Varint.size(to)
        + Varint.size(head)
        + Varint.size(frameBytes)
        + frameBytes
        + (attempt == 0 ? 0 : Varint.size(attempt));
  }

  /**
   * Writes the part of a {@code Feed} before its {@code Deliver} frames, which have to follow, and
   * then the attempt, see {@link #writeAttempt}.
   *
   * @param out has room for {@link #feedSize} bytes, less those of what follows, at its position
   * @param id the consumer
   * @param from the first position that it covers
   * @param to the last one, from - 1 for none
   * @param head the last position of the journal
   * @param frameBytes bytes of the frames
   * @param attempt number of the delivery; 0 for none
   */
  public static void writeFeedHead(
      ByteBuffer out, long id, long from, long to, long head, int frameBytes, int attempt) {
    Frames.writeHead(out, TypeCode.FEED, feedBodySize(id, from, to, head, frameBytes, attempt));
    Varint.write(out, id);
    Varint.write(out, from);
    Varint.write(out, to);
    Varint.write(out, head);
    Varint.write(out, frameBytes);
  }

  /**
   * Writes the end of a {@code Feed}, behind its frames.
   *
   * @param out has room for it at its position
   * @param attempt as in the head; of 0 nothing is written, which is the same
   */
  public static void writeAttempt(ByteBuffer out, int attempt) {
    if (attempt != 0) {
      Varint.write(out, attempt);
    }
  }
}
