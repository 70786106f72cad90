package io.eventbus.journal.codec;

import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorStart;
import io.eventbus.journal.CursorView;
import io.eventbus.journal.JournalNames;
import io.eventbus.journal.Settlement;
import io.eventbus.journal.Settlement.Outcome;
import io.eventbus.journal.TakenRun;
import io.eventbus.journal.codec.ShardRecord.AttachCursor;
import io.eventbus.journal.codec.ShardRecord.CreateCursor;
import io.eventbus.journal.codec.ShardRecord.CursorRecord;
import io.eventbus.journal.codec.ShardRecord.DeleteCursor;
import io.eventbus.journal.codec.ShardRecord.DetachCursor;
import io.eventbus.journal.codec.ShardRecord.JoinCursor;
import io.eventbus.journal.codec.ShardRecord.LeaveCursor;
import io.eventbus.journal.codec.ShardRecord.Redrive;
import io.eventbus.journal.codec.ShardRecord.SettleCursor;
import io.eventbus.journal.codec.ShardRecord.SettleEvents;
import io.eventbus.journal.codec.ShardRecord.SettleSlots;
import io.eventbus.journal.codec.ShardRecord.TakeEvents;
import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.Topic;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.Varint;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Format of the records about cursors: type, journal, name, and what else they have. */
public final class CursorRecordFormat {
  // The order of these is part of the format.
  private static final List<CursorStart> STARTS =
      List.of(CursorStart.NEW, CursorStart.FIRST, CursorStart.POSITION);
  private static final List<CursorMode> MODES =
      List.of(CursorMode.EXCLUSIVE, CursorMode.SHARED, CursorMode.KEY_SHARED);
  private static final List<Outcome> OUTCOMES =
      List.of(Outcome.DONE, Outcome.RETRY, Outcome.REJECT, Outcome.RELEASE);

  // Fields of a settlement, but its reason.
  private static final int SETTLEMENT_NUMBERS = 5;

  private CursorRecordFormat() {}

  /** Writes a mode into a buffer that has room for it. */
  public static void writeMode(ByteBuffer out, CursorMode mode) {
    Varint.write(out, MODES.indexOf(mode));
  }

  /** Reads a mode. */
  public static CursorMode readMode(BodyReader in, String field) {
    return DefinitionFormat.readChoice(in, field, MODES);
  }

  /** Returns how many bytes a record takes at most, beside its numbers. */
  static int maxSizeOfTexts(CursorRecord record) {
    int size = DefinitionFormat.maxSize(record.name());
    if (record instanceof CreateCursor create) {
      size += DefinitionFormat.maxSize(create.filter().toString());
    } else if (record instanceof AttachCursor attach) {
      size += DefinitionFormat.maxSize(attach.owner());
    } else if (record instanceof JoinCursor join) {
      size += DefinitionFormat.maxSize(join.owner());
    } else if (record instanceof SettleEvents settle) {
      for (Settlement each : settle.settlements()) {
        size += SETTLEMENT_NUMBERS * Varint.MAX_BYTES + DefinitionFormat.maxSize(each.reason());
      }
    } else if (record instanceof SettleSlots settle) {
      size += SlotFormat.maxSize(settle.progress());
    }
    return size;
  }

  static void write(ByteBuffer out, CursorRecord record) {
    Varint.write(out, type(record).code());
    Varint.write(out, record.journal());
    DefinitionFormat.writeString(out, record.name());
    if (record instanceof CreateCursor create) {
      DefinitionFormat.writeString(out, create.filter().toString());
      writeMode(out, create.mode());
      Varint.write(out, STARTS.indexOf(create.start()));
      Varint.write(out, create.position());
    } else if (record instanceof AttachCursor attach) {
      DefinitionFormat.writeString(out, attach.owner());
      Varint.write(out, attach.replaces());
    } else if (record instanceof DetachCursor detach) {
      Varint.write(out, detach.epoch());
    } else if (record instanceof SettleCursor settle) {
      Varint.write(out, settle.epoch());
      Varint.write(out, settle.upTo());
    } else if (record instanceof DeleteCursor delete) {
      Varint.write(out, delete.epoch());
    } else if (record instanceof JoinCursor join) {
      DefinitionFormat.writeString(out, join.owner());
      Varint.write(out, join.maxAttempts());
    } else if (record instanceof LeaveCursor leave) {
      Varint.write(out, leave.epoch());
      writeFlag(out, leave.failed());
    } else if (record instanceof TakeEvents take) {
      Varint.write(out, take.epoch());
      Varint.write(out, take.serial());
      Varint.write(out, take.max());
    } else if (record instanceof SettleEvents settle) {
      Varint.write(out, settle.epoch());
      Varint.write(out, settle.serial());
      writeSettlements(out, settle.settlements());
    } else if (record instanceof SettleSlots settle) {
      Varint.write(out, settle.epoch());
      SlotFormat.write(out, settle.progress());
    } else if (record instanceof Redrive redrive) {
      Varint.write(out, redrive.from());
      Varint.write(out, redrive.to());
      writeFlag(out, redrive.discard());
    }
  }

  private static RecordType type(CursorRecord record) {
    if (record instanceof CreateCursor) {
      return RecordType.CREATE_CURSOR;
    } else if (record instanceof AttachCursor) {
      return RecordType.ATTACH_CURSOR;
    } else if (record instanceof DetachCursor) {
      return RecordType.DETACH_CURSOR;
    } else if (record instanceof SettleCursor) {
      return RecordType.SETTLE_CURSOR;
    } else if (record instanceof DeleteCursor) {
      return RecordType.DELETE_CURSOR;
    } else if (record instanceof JoinCursor) {
      return RecordType.JOIN_CURSOR;
    } else if (record instanceof LeaveCursor) {
      return RecordType.LEAVE_CURSOR;
    } else if (record instanceof TakeEvents) {
      return RecordType.TAKE_EVENTS;
    } else if (record instanceof SettleEvents) {
      return RecordType.SETTLE_EVENTS;
    } else if (record instanceof SettleSlots) {
      return RecordType.SETTLE_SLOTS;
    } else if (record instanceof Redrive) {
      return RecordType.REDRIVE;
    }
    throw new AssertionError("sealed: " + record.getClass());
  }

  private static void writeFlag(ByteBuffer out, boolean flag) {
    Varint.write(out, flag ? 1 : 0);
  }

  private static void writeSettlements(ByteBuffer out, List<Settlement> settlements) {
    Varint.write(out, settlements.size());
    for (Settlement each : settlements) {
      Varint.write(out, each.from());
      Varint.write(out, each.to());
      Varint.write(out, each.attempt());
      Varint.write(out, OUTCOMES.indexOf(each.outcome()));
      Varint.write(out, each.delayMillis());
      DefinitionFormat.writeString(out, each.reason());
    }
  }

  /** Reads what is behind the type of a record about a cursor. */
  static ShardRecord read(BodyReader in, RecordType type) {
    int journal = (int) readNumber(in, "journal", 1, Integer.MAX_VALUE);
    String name = readName(in);
    return switch (type) {
      case CREATE_CURSOR -> readCreate(in, journal, name);
      case ATTACH_CURSOR ->
          new AttachCursor(
              journal,
              name,
              readOwner(in, "AttachCursor.owner"),
              readNumber(in, "AttachCursor.replaces", 0, Long.MAX_VALUE));
      case DETACH_CURSOR ->
          new DetachCursor(journal, name, readNumber(in, "DetachCursor.epoch", 0, Long.MAX_VALUE));
      case SETTLE_CURSOR ->
          new SettleCursor(
              journal,
              name,
              readNumber(in, "SettleCursor.epoch", 0, Long.MAX_VALUE),
              readNumber(in, "SettleCursor.upTo", 0, Long.MAX_VALUE));
      case DELETE_CURSOR ->
          new DeleteCursor(journal, name, readNumber(in, "DeleteCursor.epoch", 0, Long.MAX_VALUE));
      case JOIN_CURSOR ->
          new JoinCursor(
              journal,
              name,
              readOwner(in, "JoinCursor.owner"),
              (int) readNumber(in, "JoinCursor.maxAttempts", 1, TakenRun.MAX_ATTEMPTS));
      case LEAVE_CURSOR ->
          new LeaveCursor(
              journal,
              name,
              readNumber(in, "LeaveCursor.epoch", 0, Long.MAX_VALUE),
              readFlag(in, "LeaveCursor.failed"));
      case TAKE_EVENTS ->
          new TakeEvents(
              journal,
              name,
              readNumber(in, "TakeEvents.epoch", 0, Long.MAX_VALUE),
              readNumber(in, "TakeEvents.serial", 0, Long.MAX_VALUE),
              (int) readNumber(in, "TakeEvents.max", 1, Integer.MAX_VALUE));
      case SETTLE_EVENTS ->
          new SettleEvents(
              journal,
              name,
              readNumber(in, "SettleEvents.epoch", 0, Long.MAX_VALUE),
              readNumber(in, "SettleEvents.serial", 0, Long.MAX_VALUE),
              readSettlements(in));
      case SETTLE_SLOTS ->
          new SettleSlots(
              journal,
              name,
              readNumber(in, "SettleSlots.epoch", 0, Long.MAX_VALUE),
              SlotFormat.readProgress(in));
      case REDRIVE -> readRedrive(in, journal, name);
      default -> throw new AssertionError("no record about a cursor: " + type);
    };
  }

  private static CreateCursor readCreate(BodyReader in, int journal, String name) {
    TopicFilter filter = DefinitionFormat.readFilter(in, "CreateCursor.filter");
    CursorMode mode = readMode(in, "CreateCursor.mode");
    CursorStart from = DefinitionFormat.readChoice(in, "CreateCursor.start", STARTS);
    return new CreateCursor(
        journal,
        name,
        filter,
        mode,
        from,
        readNumber(in, "CreateCursor.position", 0, Long.MAX_VALUE));
  }

  private static List<Settlement> readSettlements(BodyReader in) {
    int count =
        DefinitionFormat.readAtMost(in, "SettleEvents.settlements", Settlement.MAX_TOGETHER);
    List<Settlement> settlements = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long from = readNumber(in, "Settlement.from", 1, Long.MAX_VALUE);
      settlements.add(
          new Settlement(
              from,
              readNumber(in, "Settlement.to", from, Long.MAX_VALUE),
              (int) readNumber(in, "Settlement.attempt", 1, TakenRun.MAX_ATTEMPTS),
              DefinitionFormat.readChoice(in, "Settlement.outcome", OUTCOMES),
              readNumber(in, "Settlement.delayMillis", -1, Settlement.MAX_DELAY_MILLIS),
              in.readString("Settlement.reason", Settlement.MAX_REASON_BYTES)));
    }
    return settlements;
  }

  private static Redrive readRedrive(BodyReader in, int journal, String name) {
    long from = readNumber(in, "Redrive.from", 1, Long.MAX_VALUE);
    return new Redrive(
        journal,
        name,
        from,
        readNumber(in, "Redrive.to", from, Long.MAX_VALUE),
        readFlag(in, "Redrive.discard"));
  }

  private static String readName(BodyReader in) {
    int at = in.position();
    String name = in.readString("cursor.name", Topic.MAX_BYTES);
    String problem = JournalNames.problem(name);
    if (problem != null) {
      throw in.malformed("cursor.name", at, problem, "a legal name");
    }
    return name;
  }

  private static String readOwner(BodyReader in, String field) {
    int at = in.position();
    String owner = in.readString(field, CursorView.MAX_OWNER_BYTES);
    if (owner.isEmpty()) {
      throw in.malformed(field, at, "no bytes", "at least one");
    }
    return owner;
  }

  private static boolean readFlag(BodyReader in, String field) {
    return DefinitionFormat.readAtMost(in, field, 1) == 1;
  }

  /** Reads a number of a range. */
  static long readNumber(BodyReader in, String field, long min, long max) {
    int at = in.position();
    long value = in.readLong(field);
    if (value < min || value > max) {
      throw in.malformed(field, at, value, min + ".." + max);
    }
    return value;
  }
}
