package io.eventbus.journal;

import io.eventbus.protocol.TopicFilter;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Durable topics of this bus. Any thread may call any method.
 *
 * <p>A result says what is committed: on the disks of a majority of the replicas, and applied here.
 * A failure with {@link JournalsUnavailableException} says nothing: what was asked for may have
 * been done, or may still be done. Each call ends with one of both within the answer time-out of
 * the implementation.
 *
 * <p>Methods that return a stage and {@link #append} never wait; listeners and stages are called on
 * threads that must not wait either.
 */
public interface Journals {
  /** Returns the journals as they are applied here. */
  JournalCatalog catalog();

  /**
   * Publishes events, in the order of the calls of one thread. Those of more than 256 KiB are
   * stored piece by piece, unless an expectation comes with them: a refusal then tells only that
   * the last pieces are not stored.
   *
   * @param head facts about the events
   * @param events one block of events as {@link io.eventbus.protocol.PublishView#writeEvents}
   *     writes them, from position to limit, which have been checked; copied before the call
   *     returns, the position stays
   * @param listener told the result once, perhaps before the call returns
   * @return false if there is no room at present: nothing was done then, and {@link #whenRoom} says
   *     when to try again
   * @throws IllegalArgumentException if events with an expectation, or one event, are larger than
   *     an entry can be
   */
  boolean append(PublishHead head, ByteBuffer events, AppendListener listener);

  /**
   * Runs a task once as soon as there is room to append: before the call returns if there is some
   * now. Others may be faster. A task that waits is run also when the journals end.
   */
  void whenRoom(Runnable task);

  /** Returns the bytes of what was asked for and is not answered yet; does not wait. */
  long pendingBytes();

  /**
   * Creates a journal. The result is {@link RecordResult.JournalCreated}, also if a journal with
   * the same definition exists, or {@link RecordResult.Refused}.
   */
  CompletionStage<RecordResult> create(JournalDefinition definition);

  /**
   * Changes the definition of a journal for events that are published from then on. The result is
   * {@link RecordResult.Done} or {@link RecordResult.Refused}.
   */
  CompletionStage<RecordResult> change(int journal, JournalDefinition definition);

  /**
   * Deletes a journal with all of its events and cursors. The result is {@link RecordResult.Done}
   * or {@link RecordResult.Refused}.
   */
  CompletionStage<RecordResult> delete(int journal);

  /**
   * Removes the oldest events, in whole chunks. The result is {@link RecordResult.Trimmed} or
   * {@link RecordResult.Refused}.
   *
   * @param upTo the last position that is not needed any longer
   */
  CompletionStage<RecordResult> trim(int journal, long upTo);

  /**
   * Removes single events, whose positions stay. The result is {@link RecordResult.Purged} or
   * {@link RecordResult.Refused}.
   *
   * @param topic the only topic whose events are removed; empty for those of all topics
   * @param from the first position, 1 or more
   * @param to the last position
   */
  CompletionStage<RecordResult> purge(int journal, String topic, long from, long to);

  /**
   * Creates a cursor. The result is {@link RecordResult.CursorState}, also if a cursor with the
   * same filter and mode exists, or {@link RecordResult.Refused}.
   *
   * <p>A cursor is deleted that is not used for 7 days: neither created, taken over nor settled. To
   * settle the same position again is a use, too. A consumer that has nothing to settle does so
   * once a day. A shared cursor that has consumers is in use.
   *
   * @param position position of the first event, for {@link CursorStart#POSITION} only
   */
  CompletionStage<RecordResult> createCursor(
      int journal,
      String name,
      TopicFilter filter,
      CursorMode mode,
      CursorStart start,
      long position);

  /**
   * Takes an exclusive cursor over, for a consumer that gets the next epoch. The result is {@link
   * RecordResult.CursorState} or {@link RecordResult.Refused}: with {@link
   * JournalRefusalReason#CURSOR_TAKEN} if the cursor has another owner.
   *
   * @param owner text that names the process of a bus: not empty, at most {@link
   *     CursorView#MAX_OWNER_BYTES}
   * @param replaces epoch with which the cursor is taken from another owner; 0 for none
   */
  CompletionStage<RecordResult> attachCursor(int journal, String name, String owner, long replaces);

  /**
   * Releases an exclusive cursor, so that it has no owner. The result is {@link
   * RecordResult.CursorState} or {@link RecordResult.Refused}.
   *
   * @param epoch that of its consumer
   */
  CompletionStage<RecordResult> detachCursor(int journal, String name, long epoch);

  /**
   * Settles all events of an exclusive cursor up to a position. The result is {@link
   * RecordResult.CursorState} or {@link RecordResult.Refused}.
   */
  CompletionStage<RecordResult> settleCursor(int journal, String name, long epoch, long upTo);

  /**
   * Adds a consumer to a shared cursor. The result is {@link RecordResult.CursorState} with the
   * consumer's epoch, or {@link RecordResult.Refused}.
   *
   * @param owner text that names the process of a bus: not empty, at most {@link
   *     CursorView#MAX_OWNER_BYTES}
   * @param maxAttempts number of deliveries after which an event is dead that this consumer has not
   *     settled with success, 1 to {@link TakenRun#MAX_ATTEMPTS}
   */
  CompletionStage<RecordResult> joinCursor(int journal, String name, String owner, int maxAttempts);

  /**
   * Removes a consumer from a shared cursor; other consumers get at once what it has taken and not
   * settled. The result is {@link RecordResult.Done}, also if there is no such consumer any more,
   * or {@link RecordResult.Refused}.
   *
   * @param failed whether the deliveries to it count as attempts
   */
  CompletionStage<RecordResult> leaveCursor(int journal, String name, long epoch, boolean failed);

  /**
   * Takes events of a shared cursor for a consumer: first those that were given back and are due,
   * then those that nobody has taken. If there are few, it gets a part of them only, so that others
   * get some, too. The events are of any topics: those that the cursor's filter does not select
   * have to be settled as well. The result is {@link RecordResult.Taken} or {@link
   * RecordResult.Refused}.
   *
   * <p>A consumer has at most 1,024 events that are not settled. While 100,000 events are given
   * back or dead, there are no others to take.
   *
   * @param serial larger than those by which the consumer took before: none are taken by one that
   *     comes again
   * @param max maximum number of events, 1 or more
   */
  CompletionStage<RecordResult> takeEvents(
      int journal, String name, long epoch, long serial, int max);

  /**
   * Settles events that a consumer of a shared cursor has taken. Those that it does not have, or of
   * another delivery, are left out and counted. The result is {@link RecordResult.Settled} or
   * {@link RecordResult.Refused}.
   *
   * @param serial larger than those by which the consumer settled before: nothing is settled by one
   *     that comes again. Of no meaning without settlements, which only use the cursor
   * @throws IllegalArgumentException if these are more than {@link Settlement#MAX_TOGETHER}, or one
   *     is illegal
   */
  CompletionStage<RecordResult> settleEvents(
      int journal, String name, long epoch, long serial, List<Settlement> settlements);

  /**
   * Stores what a consumer of a key-shared cursor has settled. The result is {@link
   * RecordResult.Done}, also if a later progress is stored already, or {@link
   * RecordResult.Refused}.
   *
   * @throws IllegalArgumentException if something of it is illegal
   */
  CompletionStage<RecordResult> settleSlots(
      int journal, String name, long epoch, SlotProgress progress);

  /**
   * Returns dead letters of a shared cursor to its consumers, as if they had never been delivered,
   * or removes them from the cursor; at most 1,000 at a time. The result is {@link
   * RecordResult.Redriven} or {@link RecordResult.Refused}.
   *
   * @param from the first position, 1 or more
   * @param to the last position
   * @param discard whether the events are settled instead of returned
   */
  CompletionStage<RecordResult> redrive(
      int journal, String name, long from, long to, boolean discard);

  /**
   * Deletes a cursor. The result is {@link RecordResult.Done} or {@link RecordResult.Refused}.
   *
   * @param epoch the cursor is deleted only if it has this epoch; 0 for any
   */
  CompletionStage<RecordResult> deleteCursor(int journal, String name, long epoch);

  /**
   * Returns what a journal holds; null if there is none. Waits for the disk.
   *
   * @throws JournalsUnavailableException if it cannot be read now
   */
  @Nullable JournalFigures figures(int journal);

  /**
   * Returns the cursors of a journal, sorted by name. Waits for the disk.
   *
   * @param after name after which they begin, empty for the first
   * @param max maximum number of them
   * @throws JournalsUnavailableException if they cannot be read now
   */
  List<CursorView> cursors(int journal, String after, int max);

  /**
   * Returns a cursor; null if there is no such cursor. Waits for the disk.
   *
   * @throws JournalsUnavailableException if it cannot be read now
   */
  @Nullable CursorView cursor(int journal, String name);

  /**
   * Returns the greatest lag of the cursors of a journal, as {@link CursorView#lag} counts it.
   * Waits for the disk.
   *
   * @param max maximum number of cursors that are looked at
   * @throws JournalsUnavailableException if they cannot be read now
   */
  long maxLag(int journal, int max);

  /**
   * Returns the consumers of a shared cursor, sorted by epoch; none if there is no such cursor.
   * Waits for the disk.
   *
   * @param after epoch after which they begin, 0 for the first
   * @param max maximum number of them
   * @throws JournalsUnavailableException if they cannot be read now
   */
  List<ConsumerView> consumers(int journal, String name, long after, int max);

  /**
   * Returns what was given back of a shared cursor and not taken again, sorted by due time and
   * position; nothing if there is no such cursor. Waits for the disk.
   *
   * @param due time from which on they are returned, in milliseconds of the shard's time
   * @param after position of that time after which they begin, 0 for the first
   * @param max maximum number of ranges
   * @throws JournalsUnavailableException if they cannot be read now
   */
  List<WaitingEvents> waiting(int journal, String name, long due, long after, int max);

  /**
   * Returns the slots of a consumer of a key-shared cursor; null if there is no such consumer.
   * Waits for the disk.
   *
   * @throws JournalsUnavailableException if they cannot be read now
   */
  @Nullable SlotsView slots(int journal, String name, long epoch);

  /**
   * Returns the dead letters of a shared cursor, sorted by position; none if there is no such
   * cursor. Waits for the disk.
   *
   * @param after position after which they begin, 0 for the first
   * @param max maximum number of them
   * @throws JournalsUnavailableException if they cannot be read now
   */
  List<DeadEvent> deadEvents(int journal, String name, long after, int max);

  /**
   * Returns the position of the last event of a topic; 0 if the topic is empty. Waits for the disk.
   *
   * @throws JournalsUnavailableException if it cannot be read now
   */
  long lastOfTopic(int journal, String topic);

  /**
   * Returns the position from which on a journal is read to get the events of a time and later: the
   * first of the chunk in which they begin; 0 if there is no such journal, or if it keeps only last
   * events. Waits for the disk.
   *
   * @param stamp time of the shard, in milliseconds since the epoch
   * @throws JournalsUnavailableException if it cannot be read now
   */
  long positionAt(int journal, long stamp);

  /**
   * Completes when everything is applied here that was committed at any bus before the call: what
   * is read afterwards is no older, and listeners have been told of it. Fails with {@link
   * JournalsUnavailableException} if that takes more than 2 s. Completed on a thread that must not
   * wait.
   *
   * <p>What is committed is applied where there is no other replica.
   */
  default CompletionStage<Void> appliedUpToNow() {
    return CompletableFuture.completedFuture(null);
  }

  /** Returns a reader of the events of a journal whose topics a filter matches. */
  StoredEventReader reader(int journal, TopicFilter filter);

  /**
   * Tells a listener of everything that is applied from now on: what it is not told of, a reader
   * gets that begins afterwards.
   *
   * @return ends that when closed; an entry that is being applied may still be told
   */
  Watch watch(JournalListener listener);

  /** Listener that is told of what is applied. */
  interface Watch extends AutoCloseable {
    @Override
    void close();
  }
}
