package io.eventbus.journal;

import java.util.List;

/** Result of a record of a shard's log, the same on every member. */
public sealed interface RecordResult {
  /**
   * Acceptance of events.
   *
   * @param position that of the last event; 0 if it waits for its time, or is not known any more
   * @param repeated whether these events, or some of them, had been accepted before
   */
  record Published(long position, boolean repeated) implements RecordResult {}

  /**
   * Refusal, which changes nothing.
   *
   * @param message names the field, what it is, and what was expected
   */
  record Refused(JournalRefusalReason reason, String message) implements RecordResult {}

  /**
   * Creation of a journal.
   *
   * @param journal its number, which no other journal of the shard ever gets
   */
  record JournalCreated(int journal) implements RecordResult {}

  /** Success of what has nothing to tell. */
  record Done() implements RecordResult {}

  /**
   * Removal of the oldest events.
   *
   * @param firstPosition the first position that is kept now
   * @param complete whether all has been removed; else the rest takes another record
   */
  record Trimmed(long firstPosition, boolean complete) implements RecordResult {}

  /**
   * Removal of single events.
   *
   * @param events how many have been removed
   * @param next the position from which another record has to go on, 0 if all is done
   */
  record Purged(long events, long next) implements RecordResult {}

  /**
   * Release of events whose time has come.
   *
   * @param events how many have got a position
   * @param complete whether all that are due have; else the rest takes another record
   */
  record Released(long events, boolean complete) implements RecordResult {}

  /**
   * Removal of what is known of producers.
   *
   * @param producers how many have been removed
   * @param complete whether all have; else the rest takes another record
   */
  record ProducersExpired(long producers, boolean complete) implements RecordResult {}

  /**
   * State of a cursor after it was created, attached, moved, detached or joined.
   *
   * @param epoch number of its consumer
   * @param floor every event up to this position is settled; of a shared cursor, was taken
   */
  record CursorState(long epoch, long floor) implements RecordResult {}

  /**
   * Events that a consumer of a shared cursor has got.
   *
   * @param runs their positions, at most {@value #MAX_RUNS} runs; none if no events can be had now
   * @param due shard time, in milliseconds, of the first event that waits for its time; 0 for none
   */
  record Taken(List<TakenRun> runs, long due) implements RecordResult {
    /** Maximum number of runs that are taken together. */
    public static final int MAX_RUNS = 64;

    /** Copies the list. */
    public Taken {
      runs = List.copyOf(runs);
    }
  }

  /**
   * Settlement of events by a consumer of a shared cursor.
   *
   * @param ignored number of positions that the consumer did not have, or of another delivery
   */
  record Settled(int ignored) implements RecordResult {}

  /**
   * Return of dead letters to the consumers of a shared cursor, or their removal.
   *
   * @param events how many have been returned or removed
   * @param next the position from which another record has to go on, 0 if all is done
   */
  record Redriven(long events, long next) implements RecordResult {}
}
