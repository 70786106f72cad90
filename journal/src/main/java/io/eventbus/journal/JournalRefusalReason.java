package io.eventbus.journal;

/** Reason for which a shard refuses what it is asked. */
public enum JournalRefusalReason {
  /** No journal has this number, or the journal does not keep the events of this topic. */
  NO_JOURNAL,
  /**
   * Events of this producer are missing before these, or it is not known any more whether these are
   * in the journal.
   */
  SEQUENCE_GAP,
  /** The last event of the topic is not the one that the publisher expects. */
  EXPECTATION_FAILED,
  /** A limit of the journal or the shard is reached. Events may be published again later. */
  STORE_FULL,
  /** An event is larger than a journal can keep. */
  EVENT_TOO_LARGE,
  /** Another journal has this name. */
  JOURNAL_EXISTS,
  /** The change asks for something that stays as it is. */
  NOT_CHANGEABLE,
  /** The journal has no cursor of this name. */
  NO_CURSOR,
  /** A cursor of this name exists, and has another filter or mode. */
  CURSOR_EXISTS,
  /** Another consumer has taken the cursor over, or the consumer has left the shared cursor. */
  STALE_EPOCH,
  /** No event has this position yet. */
  NO_POSITION,
  /** Another process has the cursor. */
  CURSOR_TAKEN
}
