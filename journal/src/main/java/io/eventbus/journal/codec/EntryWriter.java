package io.eventbus.journal.codec;

import io.eventbus.journal.PublishHead;
import io.eventbus.journal.codec.ShardRecord.ChangeJournal;
import io.eventbus.journal.codec.ShardRecord.CreateJournal;
import io.eventbus.journal.codec.ShardRecord.CursorRecord;
import io.eventbus.journal.codec.ShardRecord.DeleteJournal;
import io.eventbus.journal.codec.ShardRecord.ExpireProducers;
import io.eventbus.journal.codec.ShardRecord.Publish;
import io.eventbus.journal.codec.ShardRecord.Purge;
import io.eventbus.journal.codec.ShardRecord.Release;
import io.eventbus.journal.codec.ShardRecord.Tick;
import io.eventbus.journal.codec.ShardRecord.Trim;
import io.eventbus.protocol.Varint;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Writer of entries: the number of the format (1 byte), the stamp (8 bytes, big-endian), then
 * records up to the end, each a type and its fields in Avro's encoding.
 *
 * <p>{@link #begin}, then records, then {@link #setStamp} when the entry is appended to the log.
 * Each call wants room in the buffer for what it writes.
 */
public final class EntryWriter {
  static final byte FORMAT = 1;
  static final int STAMP_AT = 1;

  /** Size of what lies before the first record, in bytes. */
  public static final int HEAD_BYTES = STAMP_AT + Long.BYTES;

  private EntryWriter() {}

  /** Writes the beginning of an entry, with a stamp of 0. */
  public static void begin(ByteBuffer out) {
    out.put(FORMAT).putLong(0);
  }

  /**
   * Sets the stamp of an entry.
   *
   * @param start the index of the entry's first byte
   */
  public static void setStamp(ByteBuffer entry, int start, long stamp) {
    // Big-endian whatever the caller's buffer is.
    entry.duplicate().order(ByteOrder.BIG_ENDIAN).putLong(start + STAMP_AT, stamp);
  }

  /** Returns how many bytes the head of a publication takes at most. */
  public static int maxSize(PublishHead head) {
    return head.topic().length + head.producer().length + 13 * Varint.MAX_BYTES;
  }

  /**
   * Writes the beginning of a publication. The caller then writes its events, as {@link
   * io.eventbus.protocol.PublishView#writeEvents} or {@link EventBlock#write} do.
   */
  public static void writeHead(ByteBuffer out, PublishHead head) {
    Varint.write(out, RecordType.PUBLISH.code());
    Varint.write(out, head.journal());
    DefinitionFormat.writeBytes(out, head.topic());
    DefinitionFormat.writeBytes(out, head.producer());
    Varint.write(out, head.originProducer());
    Varint.write(out, head.originSequence());
    Varint.write(out, head.sequence());
    Varint.write(out, head.previous());
    Varint.write(out, head.expect());
    Varint.write(out, head.schema());
    Varint.write(out, head.receivedAt());
    Varint.write(out, head.ttlMillis());
    Varint.write(out, head.delayMillis());
  }

  /** Returns how many bytes a record takes at most. */
  public static int maxSize(ShardRecord record) {
    int numbers = 5 * Varint.MAX_BYTES;
    if (record instanceof Publish publish) {
      return maxSize(publish.head()) + publish.events().size();
    } else if (record instanceof CreateJournal create) {
      return numbers + DefinitionFormat.maxSize(create.definition());
    } else if (record instanceof ChangeJournal change) {
      return numbers + DefinitionFormat.maxSize(change.definition());
    } else if (record instanceof Purge purge) {
      return numbers + DefinitionFormat.maxSize(purge.topic());
    } else if (record instanceof CursorRecord cursor) {
      return numbers + CursorRecordFormat.maxSizeOfTexts(cursor);
    }
    return numbers;
  }

  /** Writes a record. */
  public static void write(ByteBuffer out, ShardRecord record) {
    if (record instanceof Publish publish) {
      writeHead(out, publish.head());
      publish.events().write(out);
    } else if (record instanceof CreateJournal create) {
      Varint.write(out, RecordType.CREATE_JOURNAL.code());
      DefinitionFormat.write(out, create.definition());
      Varint.write(out, create.creation());
    } else if (record instanceof ChangeJournal change) {
      begin(out, RecordType.CHANGE_JOURNAL, change.journal());
      DefinitionFormat.write(out, change.definition());
    } else if (record instanceof DeleteJournal delete) {
      begin(out, RecordType.DELETE_JOURNAL, delete.journal());
    } else if (record instanceof Trim trim) {
      begin(out, RecordType.TRIM, trim.journal());
      Varint.write(out, trim.upTo());
    } else if (record instanceof Purge purge) {
      begin(out, RecordType.PURGE, purge.journal());
      DefinitionFormat.writeString(out, purge.topic());
      Varint.write(out, purge.from());
      Varint.write(out, purge.to());
    } else if (record instanceof Release release) {
      begin(out, RecordType.RELEASE, release.journal());
      Varint.write(out, release.upTo());
    } else if (record instanceof ExpireProducers expire) {
      Varint.write(out, RecordType.EXPIRE_PRODUCERS.code());
      Varint.write(out, expire.before());
    } else if (record instanceof Tick) {
      Varint.write(out, RecordType.TICK.code());
    } else if (record instanceof CursorRecord cursor) {
      CursorRecordFormat.write(out, cursor);
    } else {
      throw new AssertionError("sealed: " + record.getClass());
    }
  }

  private static void begin(ByteBuffer out, RecordType type, int journal) {
    Varint.write(out, type.code());
    Varint.write(out, journal);
  }
}
