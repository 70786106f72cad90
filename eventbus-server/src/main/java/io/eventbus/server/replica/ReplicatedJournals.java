package io.eventbus.server.replica;

import io.eventbus.journal.AppendListener;
import io.eventbus.journal.AppliedChanges;
import io.eventbus.journal.ConsumerView;
import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorStart;
import io.eventbus.journal.CursorView;
import io.eventbus.journal.DeadEvent;
import io.eventbus.journal.JournalCatalog;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.JournalFigures;
import io.eventbus.journal.JournalListener;
import io.eventbus.journal.Journals;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.PublishHead;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.Settlement;
import io.eventbus.journal.SlotProgress;
import io.eventbus.journal.SlotsView;
import io.eventbus.journal.StoredEventReader;
import io.eventbus.journal.WaitingEvents;
import io.eventbus.protocol.TopicFilter;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Journals of a bus in a cluster: none, until the bus has a replica of them. Any thread may call
 * any method.
 */
final class ReplicatedJournals implements Journals {
  private static final JournalCatalog NONE = JournalCatalog.of(List.of());

  private final List<JournalListener> listeners = new CopyOnWriteArrayList<>();
  private volatile @Nullable Journals replica;

  /** Sets the replica, before it applies anything. */
  void set(Journals journals) {
    replica = journals;
    Watch unused = journals.watch(this::applied);
  }

  private void applied(AppliedChanges changes) {
    for (JournalListener listener : listeners) {
      listener.applied(changes);
    }
  }

  private static JournalsUnavailableException unavailable() {
    return new JournalsUnavailableException(
        "this bus has no replica of the journals (expected: one, with the first journal)");
  }

  private <T> T read(Function<Journals, T> reading, T nothing) {
    Journals journals = replica;
    return journals == null ? nothing : reading.apply(journals);
  }

  private <T> CompletionStage<T> submit(Function<Journals, CompletionStage<T>> change) {
    Journals journals = replica;
    return journals == null
        ? CompletableFuture.failedFuture(unavailable())
        : change.apply(journals);
  }

  @Override
  public JournalCatalog catalog() {
    return read(Journals::catalog, NONE);
  }

  @Override
  public boolean append(PublishHead head, ByteBuffer events, AppendListener listener) {
    Journals journals = replica;
    if (journals == null) {
      listener.unavailable(unavailable());
      return true;
    }
    return journals.append(head, events, listener);
  }

  @Override
  public void whenRoom(Runnable task) {
    Journals journals = replica;
    if (journals == null) {
      task.run();
    } else {
      journals.whenRoom(task);
    }
  }

  @Override
  public long pendingBytes() {
    return read(Journals::pendingBytes, 0L);
  }

  @Override
  public CompletionStage<RecordResult> create(JournalDefinition definition) {
    return submit(journals -> journals.create(definition));
  }

  @Override
  public CompletionStage<RecordResult> change(int journal, JournalDefinition definition) {
    return submit(journals -> journals.change(journal, definition));
  }

  @Override
  public CompletionStage<RecordResult> delete(int journal) {
    return submit(journals -> journals.delete(journal));
  }

  @Override
  public CompletionStage<RecordResult> trim(int journal, long upTo) {
    return submit(journals -> journals.trim(journal, upTo));
  }

  @Override
  public CompletionStage<RecordResult> purge(int journal, String topic, long from, long to) {
    return submit(journals -> journals.purge(journal, topic, from, to));
  }

  @Override
  public CompletionStage<RecordResult> createCursor(
      int journal,
      String name,
      TopicFilter filter,
      CursorMode mode,
      CursorStart start,
      long position) {
    return submit(journals -> journals.createCursor(journal, name, filter, mode, start, position));
  }

  @Override
  public CompletionStage<RecordResult> attachCursor(
      int journal, String name, String owner, long replaces) {
    return submit(journals -> journals.attachCursor(journal, name, owner, replaces));
  }

  @Override
  public CompletionStage<RecordResult> detachCursor(int journal, String name, long epoch) {
    return submit(journals -> journals.detachCursor(journal, name, epoch));
  }

  @Override
  public CompletionStage<RecordResult> settleCursor(
      int journal, String name, long epoch, long upTo) {
    return submit(journals -> journals.settleCursor(journal, name, epoch, upTo));
  }

  @Override
  public CompletionStage<RecordResult> joinCursor(
      int journal, String name, String owner, int maxAttempts) {
    return submit(journals -> journals.joinCursor(journal, name, owner, maxAttempts));
  }

  @Override
  public CompletionStage<RecordResult> leaveCursor(
      int journal, String name, long epoch, boolean failed) {
    return submit(journals -> journals.leaveCursor(journal, name, epoch, failed));
  }

  @Override
  public CompletionStage<RecordResult> takeEvents(
      int journal, String name, long epoch, long serial, int max) {
    return submit(journals -> journals.takeEvents(journal, name, epoch, serial, max));
  }

  @Override
  public CompletionStage<RecordResult> settleEvents(
      int journal, String name, long epoch, long serial, List<Settlement> settlements) {
    return submit(journals -> journals.settleEvents(journal, name, epoch, serial, settlements));
  }

  @Override
  public CompletionStage<RecordResult> settleSlots(
      int journal, String name, long epoch, SlotProgress progress) {
    return submit(journals -> journals.settleSlots(journal, name, epoch, progress));
  }

  @Override
  public CompletionStage<RecordResult> redrive(
      int journal, String name, long from, long to, boolean discard) {
    return submit(journals -> journals.redrive(journal, name, from, to, discard));
  }

  @Override
  public CompletionStage<RecordResult> deleteCursor(int journal, String name, long epoch) {
    return submit(journals -> journals.deleteCursor(journal, name, epoch));
  }

  @Override
  public @Nullable JournalFigures figures(int journal) {
    Journals journals = replica;
    return journals == null ? null : journals.figures(journal);
  }

  @Override
  public List<ConsumerView> consumers(int journal, String name, long after, int max) {
    return read(journals -> journals.consumers(journal, name, after, max), List.of());
  }

  @Override
  public List<WaitingEvents> waiting(int journal, String name, long due, long after, int max) {
    return read(journals -> journals.waiting(journal, name, due, after, max), List.of());
  }

  @Override
  public long maxLag(int journal, int max) {
    return read(journals -> journals.maxLag(journal, max), 0L);
  }

  @Override
  public @Nullable SlotsView slots(int journal, String name, long epoch) {
    Journals journals = replica;
    return journals == null ? null : journals.slots(journal, name, epoch);
  }

  @Override
  public List<DeadEvent> deadEvents(int journal, String name, long after, int max) {
    return read(journals -> journals.deadEvents(journal, name, after, max), List.of());
  }

  @Override
  public List<CursorView> cursors(int journal, String after, int max) {
    return read(journals -> journals.cursors(journal, after, max), List.of());
  }

  @Override
  public @Nullable CursorView cursor(int journal, String name) {
    Journals journals = replica;
    return journals == null ? null : journals.cursor(journal, name);
  }

  @Override
  public long lastOfTopic(int journal, String topic) {
    return read(journals -> journals.lastOfTopic(journal, topic), 0L);
  }

  @Override
  public long positionAt(int journal, long stamp) {
    return read(journals -> journals.positionAt(journal, stamp), 0L);
  }

  @Override
  public CompletionStage<Void> appliedUpToNow() {
    // Without a replica there is nothing that could be read.
    return read(Journals::appliedUpToNow, CompletableFuture.completedFuture(null));
  }

  @Override
  public StoredEventReader reader(int journal, TopicFilter filter) {
    // Without a replica there is no such journal.
    return read(journals -> journals.reader(journal, filter), (from, maxBytes) -> null);
  }

  @Override
  public Watch watch(JournalListener listener) {
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }
}
