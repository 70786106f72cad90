package io.eventbus.journal.codec;

import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorStart;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.PublishHead;
import io.eventbus.journal.Settlement;
import io.eventbus.journal.SlotProgress;
import io.eventbus.protocol.TopicFilter;
import java.util.List;

/** Record of an entry: what a shard is asked to do. Journals are named by their numbers. */
public sealed interface ShardRecord {
  /** Publication of events. */
  record Publish(PublishHead head, EventBlock events) implements ShardRecord {}

  /**
   * Creation of a journal; does nothing if there is one with this definition.
   *
   * @param creation number that no other creation has; 0 for none
   */
  record CreateJournal(JournalDefinition definition, long creation) implements ShardRecord {}

  /** Change of a journal's definition, of which the name and what it keeps stay. */
  record ChangeJournal(int journal, JournalDefinition definition) implements ShardRecord {}

  /** Deletion of a journal with all of its events. */
  record DeleteJournal(int journal) implements ShardRecord {}

  /** Removal of the oldest events, in whole chunks. */
  record Trim(int journal, long upTo) implements ShardRecord {}

  /**
   * Removal of single events, whose positions stay.
   *
   * @param topic the only topic whose events are removed; empty for those of all topics
   * @param from the first position
   * @param to the last position
   */
  record Purge(int journal, String topic, long from, long to) implements ShardRecord {}

  /** Record about a cursor, which is named. */
  sealed interface CursorRecord extends ShardRecord {
    /** Returns the number of the cursor's journal. */
    int journal();

    /** Returns the name of the cursor. */
    String name();
  }

  /**
   * Creation of a cursor; does nothing if there is one with this filter and mode.
   *
   * @param position of the first event, if it starts at a position
   */
  record CreateCursor(
      int journal,
      String name,
      TopicFilter filter,
      CursorMode mode,
      CursorStart start,
      long position)
      implements CursorRecord {}

  /**
   * Takeover of an exclusive cursor by a consumer, which gets the next epoch.
   *
   * @param owner text that names the process of a bus
   * @param replaces epoch with which the cursor is taken from another owner; 0 for none
   */
  record AttachCursor(int journal, String name, String owner, long replaces)
      implements CursorRecord {}

  /** Release of an exclusive cursor by the consumer of an epoch: it has no owner then. */
  record DetachCursor(int journal, String name, long epoch) implements CursorRecord {}

  /**
   * Settlement of all events of an exclusive cursor up to a position, by the consumer of an epoch.
   */
  record SettleCursor(int journal, String name, long epoch, long upTo) implements CursorRecord {}

  /**
   * Deletion of a cursor.
   *
   * @param epoch the cursor is deleted only if it has this epoch; 0 for any
   */
  record DeleteCursor(int journal, String name, long epoch) implements CursorRecord {}

  /**
   * Addition of a consumer to a shared cursor, which gets the next epoch.
   *
   * @param owner text that names the process of a bus
   * @param maxAttempts number of deliveries after which an event is dead
   */
  record JoinCursor(int journal, String name, String owner, int maxAttempts)
      implements CursorRecord {}

  /**
   * Removal of a consumer from a shared cursor; others get what it has not settled.
   *
   * @param failed whether the deliveries to it count as attempts
   */
  record LeaveCursor(int journal, String name, long epoch, boolean failed)
      implements CursorRecord {}

  /**
   * Taking of events by a consumer of a shared cursor.
   *
   * @param serial larger than those of the records before by which this consumer takes: one that
   *     comes twice, because it was sent to a new leader again, takes nothing
   * @param max maximum number of events, 1 or more
   */
  record TakeEvents(int journal, String name, long epoch, long serial, int max)
      implements CursorRecord {}

  /**
   * Settlement of single events by a consumer of a shared cursor.
   *
   * @param serial larger than those of the records before by which this consumer settles: one that
   *     comes twice settles nothing that the consumer has taken again meanwhile
   */
  record SettleEvents(
      int journal, String name, long epoch, long serial, List<Settlement> settlements)
      implements CursorRecord {
    /** Copies the list. */
    public SettleEvents {
      settlements = List.copyOf(settlements);
    }
  }

  /** Progress of a consumer of a key-shared cursor. */
  record SettleSlots(int journal, String name, long epoch, SlotProgress progress)
      implements CursorRecord {}

  /**
   * Return of dead letters to the consumers of a shared cursor.
   *
   * @param from the first position
   * @param to the last position
   * @param discard whether the events are settled instead
   */
  record Redrive(int journal, String name, long from, long to, boolean discard)
      implements CursorRecord {}

  /** Release of the events that are due at a time, in milliseconds of the shard's time. */
  record Release(int journal, long upTo) implements ShardRecord {}

  /**
   * Removal of what is known of producers that were last heard before a time, in milliseconds of
   * the shard's time.
   */
  record ExpireProducers(long before) implements ShardRecord {}

  /** Progress of the shard's time. */
  record Tick() implements ShardRecord {}
}
