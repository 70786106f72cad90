package io.eventbus.journal.codec;

import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.CursorState;
import io.eventbus.journal.RecordResult.Done;
import io.eventbus.journal.RecordResult.JournalCreated;
import io.eventbus.journal.RecordResult.ProducersExpired;
import io.eventbus.journal.RecordResult.Published;
import io.eventbus.journal.RecordResult.Purged;
import io.eventbus.journal.RecordResult.Redriven;
import io.eventbus.journal.RecordResult.Refused;
import io.eventbus.journal.RecordResult.Released;
import io.eventbus.journal.RecordResult.Settled;
import io.eventbus.journal.RecordResult.Taken;
import io.eventbus.journal.RecordResult.Trimmed;
import io.eventbus.journal.TakenRun;
import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.protocol.Varint;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Format of the results of an entry, as the leader's bus answers another: their number, then for
 * each its kind and its fields in Avro's encoding.
 */
public final class ResultFormat {
  // The numbers are part of the format.
  private static final int PUBLISHED = 1;
  private static final int REFUSED = 2;
  private static final int JOURNAL_CREATED = 3;
  private static final int DONE = 4;
  private static final int TRIMMED = 5;
  private static final int PURGED = 6;
  private static final int RELEASED = 7;
  private static final int PRODUCERS_EXPIRED = 8;
  private static final int CURSOR_STATE = 9;
  private static final int TAKEN = 10;
  private static final int SETTLED = 11;
  private static final int REDRIVEN = 12;

  // The order is part of the format.
  private static final List<JournalRefusalReason> REASONS = List.of(JournalRefusalReason.values());

  /** Maximum number of characters of an explanation; the rest is left out. */
  private static final int MAX_MESSAGE = 1_024;

  private ResultFormat() {}

  /** Returns how many bytes results take at most. */
  public static int maxSize(List<RecordResult> results) {
    int size = Varint.MAX_BYTES;
    for (RecordResult result : results) {
      size += 3 * Varint.MAX_BYTES;
      if (result instanceof Refused refused) {
        size += DefinitionFormat.maxSize(message(refused));
      } else if (result instanceof Taken taken) {
        size += taken.runs().size() * 3 * Varint.MAX_BYTES;
      }
    }
    return size;
  }

  private static String message(Refused refused) {
    String message = refused.message();
    return message.length() <= MAX_MESSAGE ? message : message.substring(0, MAX_MESSAGE);
  }

  /** Writes results into a buffer that has room for them. */
  public static void write(ByteBuffer out, List<RecordResult> results) {
    Varint.write(out, results.size());
    for (RecordResult result : results) {
      write(out, result);
    }
  }

  private static void write(ByteBuffer out, RecordResult result) {
    if (result instanceof Published published) {
      write(out, PUBLISHED, published.position(), published.repeated());
    } else if (result instanceof Refused refused) {
      Varint.write(out, REFUSED);
      Varint.write(out, REASONS.indexOf(refused.reason()));
      DefinitionFormat.writeString(out, message(refused));
    } else if (result instanceof JournalCreated created) {
      Varint.write(out, JOURNAL_CREATED);
      Varint.write(out, created.journal());
    } else if (result instanceof Done) {
      Varint.write(out, DONE);
    } else if (result instanceof Trimmed trimmed) {
      write(out, TRIMMED, trimmed.firstPosition(), trimmed.complete());
    } else if (result instanceof Purged purged) {
      write(out, PURGED, purged.events(), purged.next());
    } else if (result instanceof Released released) {
      write(out, RELEASED, released.events(), released.complete());
    } else if (result instanceof ProducersExpired expired) {
      write(out, PRODUCERS_EXPIRED, expired.producers(), expired.complete());
    } else if (result instanceof CursorState cursor) {
      write(out, CURSOR_STATE, cursor.epoch(), cursor.floor());
    } else if (result instanceof Taken taken) {
      write(out, TAKEN, taken.due(), taken.runs().size());
      for (TakenRun run : taken.runs()) {
        Varint.write(out, run.from());
        Varint.write(out, run.to() - run.from());
        Varint.write(out, run.attempt());
      }
    } else if (result instanceof Settled settled) {
      Varint.write(out, SETTLED);
      Varint.write(out, settled.ignored());
    } else if (result instanceof Redriven redriven) {
      write(out, REDRIVEN, redriven.events(), redriven.next());
    } else {
      throw new AssertionError("sealed: " + result.getClass());
    }
  }

  private static void write(ByteBuffer out, int kind, long number, boolean flag) {
    write(out, kind, number, flag ? 1 : 0);
  }

  private static void write(ByteBuffer out, int kind, long first, long second) {
    Varint.write(out, kind);
    Varint.write(out, first);
    Varint.write(out, second);
  }

  /**
   * Reads results, from position to limit.
   *
   * @throws EntryFormatException if there is anything else
   */
  public static List<RecordResult> read(ByteBuffer buffer) throws EntryFormatException {
    BodyReader in = new BodyReader().wrap(buffer, buffer.position(), buffer.limit());
    try {
      int count = DefinitionFormat.readAtMost(in, "results", Entry.MAX_RECORDS);
      List<RecordResult> results = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        results.add(readResult(in));
      }
      if (!in.atEnd()) {
        throw in.malformed("results", in.position(), "bytes behind", "the end");
      }
      return results;
    } catch (MalformedFrameException e) {
      throw new EntryFormatException("results: " + e.getMessage(), e);
    }
  }

  private static RecordResult readResult(BodyReader in) {
    int at = in.position();
    int kind = in.readInt("kind");
    return switch (kind) {
      case PUBLISHED -> new Published(in.readLong("position"), readFlag(in));
      case REFUSED ->
          new Refused(
              DefinitionFormat.readChoice(in, "reason", REASONS),
              in.readString("message", 3 * MAX_MESSAGE));
      case JOURNAL_CREATED -> new JournalCreated(in.readInt("journal"));
      case DONE -> new Done();
      case TRIMMED -> new Trimmed(in.readLong("firstPosition"), readFlag(in));
      case PURGED -> new Purged(in.readLong("events"), in.readLong("next"));
      case RELEASED -> new Released(in.readLong("events"), readFlag(in));
      case PRODUCERS_EXPIRED -> new ProducersExpired(in.readLong("producers"), readFlag(in));
      case CURSOR_STATE -> new CursorState(in.readLong("epoch"), in.readLong("floor"));
      case TAKEN -> readTaken(in);
      case SETTLED -> new Settled(in.readCount("ignored"));
      case REDRIVEN -> new Redriven(in.readLong("events"), in.readLong("next"));
      default -> throw in.malformed("kind", at, kind, "1.." + REDRIVEN);
    };
  }

  private static Taken readTaken(BodyReader in) {
    long due = in.readLong("due");
    int count = DefinitionFormat.readAtMost(in, "runs", Taken.MAX_RUNS);
    List<TakenRun> runs = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long from =
          CursorRecordFormat.readNumber(in, "run.from", 1, Long.MAX_VALUE - Integer.MAX_VALUE);
      runs.add(
          new TakenRun(
              from,
              from + DefinitionFormat.readAtMost(in, "run.length", Integer.MAX_VALUE - 1),
              (int) CursorRecordFormat.readNumber(in, "run.attempt", 1, TakenRun.MAX_ATTEMPTS)));
    }
    return new Taken(runs, due);
  }

  private static boolean readFlag(BodyReader in) {
    return DefinitionFormat.readAtMost(in, "flag", 1) == 1;
  }
}
