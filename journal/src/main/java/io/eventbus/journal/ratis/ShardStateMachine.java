package io.eventbus.journal.ratis;

import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.codec.Entry;
import io.eventbus.journal.codec.EntryFormatException;
import io.eventbus.journal.codec.EntryReader;
import io.eventbus.journal.state.Shard;
import io.eventbus.journal.state.ShardChanges;
import io.eventbus.journal.store.AppliedEntry;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreBatch;
import io.eventbus.raft.repair.LogCacheEviction;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.jspecify.annotations.Nullable;

/**
 * State machine that applies the log of a shard to its store, one batch for each entry.
 *
 * <p>Its snapshot is what the store has on its disk. Ratis begins there after a start, and may cut
 * the log up to there. A snapshot is never made here: the thread that applies entries must not wait
 * for the disk.
 *
 * <p>Entries are applied before a call returns, and a failure is thrown: of a failed future Ratis
 * would only write a line, and go on behind a hole.
 */
final class ShardStateMachine extends BaseStateMachine {
  /** Observer; called on the thread that applies entries, must not block, and throws nothing. */
  interface Observer {
    /**
     * Called when an entry is committed and its rows can be read.
     *
     * @param leads whether this member led in the term of the entry
     */
    void onApplied(Entry entry, ShardChanges changes, boolean leads);

    /** Called when the shard cannot go on. */
    void onFailure(Throwable cause);

    /** Called when another member leads, as far as is known here. */
    default void onLeader(String member) {}

    /** Returns the first index of the log that a member needs; greater than all for none. */
    default long neededFrom() {
      return Long.MAX_VALUE;
    }
  }

  private record StoredSnapshot(TermIndex termIndex) implements SnapshotInfo {
    @Override
    public TermIndex getTermIndex() {
      return termIndex;
    }

    @Override
    public List<FileInfo> getFiles() {
      return List.of();
    }
  }

  private final ShardStore store;
  private final Shard shard;
  private final Observer observer;
  private final EntryReader reader = new EntryReader();
  private volatile @Nullable SnapshotInfo snapshot;
  // The last index that Ratis may take the log to be cut up to.
  private long snapshotIndex = -1;
  private long seen = -1;
  // Terms of the last configuration, and of the last leadership here; on the thread that applies.
  private long configurationTerm = -1;
  private long ledTerm = -1;
  private boolean ended;
  private boolean failed;
  private volatile boolean logFailed;

  /** Creates a state machine that goes on where the store has stopped. */
  ShardStateMachine(ShardStore store, Shard shard, Observer observer) {
    this.store = store;
    this.shard = shard;
    this.observer = observer;
    AppliedEntry applied = store.appliedOnDisk();
    if (applied.index() > 0) {
      TermIndex at = TermIndex.valueOf(applied.term(), applied.index());
      setLastAppliedTermIndex(at);
      snapshot = new StoredSnapshot(at);
      snapshotIndex = applied.index();
      seen = applied.index();
    }
  }

  @Override
  public @Nullable SnapshotInfo getLatestSnapshot() {
    return snapshot;
  }

  @Override
  public synchronized CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
    LogEntryProto logged = Objects.requireNonNull(transaction.getLogEntry());
    if (ended) {
      return CompletableFuture.failedFuture(
          new JournalsUnavailableException("journal: closed (expected: open)"));
    }
    if (failed) {
      throw new IllegalStateException(
          "log entry " + logged.getIndex() + ": not applied, as one before it cannot be");
    }
    try {
      return CompletableFuture.completedFuture(apply(logged));
    } catch (EntryFormatException | RuntimeException | Error e) {
      failed = true;
      observer.onFailure(e);
      endCacheEviction();
      throw new IllegalStateException("log entry " + logged.getIndex() + " cannot be applied", e);
    }
  }

  /** Makes the log ready to be closed by Ratis, on this thread. */
  private void endCacheEviction() {
    RaftPeerId self = getId();
    if (self != null) {
      LogCacheEviction.end(RaftGroupMemberId.valueOf(self, getGroupId()));
    }
  }

  private Message apply(LogEntryProto logged) throws EntryFormatException {
    if (logged.getIndex() != seen + 1) {
      throw new IllegalStateException(
          "log entry: " + logged.getIndex() + " (expected: " + (seen + 1) + ")");
    }
    Entry entry = reader.read(logged.getStateMachineLogEntry().getLogData().asReadOnlyByteBuffer());
    ShardChanges changes;
    try (StoreBatch batch = store.begin()) {
      changes = shard.apply(entry, batch);
      batch.commit(new AppliedEntry(logged.getTerm(), logged.getIndex(), changes.stamp()));
    }
    seen = logged.getIndex();
    updateLastAppliedTermIndex(logged.getTerm(), logged.getIndex());
    observer.onApplied(entry, changes, logged.getTerm() == ledTerm);
    return new RecordResultsMessage(logged.getIndex(), changes.results());
  }

  /** Writer of rows that were lost. */
  interface Restoration {
    /** Writes them. */
    void write(StoreBatch rows) throws IOException;
  }

  /**
   * Restores rows that were lost, between two entries.
   *
   * @return false if the shard has ended
   */
  synchronized boolean restore(Restoration restoration) throws IOException {
    if (ended || failed) {
      return false;
    }
    try (StoreBatch batch = store.begin()) {
      restoration.write(batch);
      batch.restore();
    }
    return true;
  }

  @Override
  public void notifyConfigurationChanged(
      long term, long index, RaftConfigurationProto configuration) {
    super.notifyConfigurationChanged(term, index, configuration);
    configurationTerm = term;
  }

  /**
   * Takes note of a leadership of this member, when its first entry is applied, a configuration:
   * before the first entry that a client can have asked for in this term.
   */
  @Override
  public void notifyLeaderReady() {
    super.notifyLeaderReady();
    ledTerm = configurationTerm;
  }

  /** Takes note of an entry of Ratis's own, which changes no row. */
  @Override
  public void notifyTermIndexUpdated(long term, long index) {
    super.notifyTermIndexUpdated(term, index);
    seen = index;
  }

  /**
   * Returns the index up to which the log is not needed any more, -1 if that has not changed. The
   * last entry always stays in the log: one that ends before the store is then known for damaged.
   * What a member needs stays, too.
   */
  @Override
  public synchronized long takeSnapshot() {
    if (ended) {
      return -1;
    }
    AppliedEntry onDisk = store.appliedOnDisk();
    if (onDisk.index() > 0) {
      snapshot = new StoredSnapshot(TermIndex.valueOf(onDisk.term(), onDisk.index()));
    }
    long index = Math.min(Math.min(onDisk.index(), seen - 1), observer.neededFrom() - 1);
    if (index <= snapshotIndex) {
      return -1;
    }
    snapshotIndex = index;
    return index;
  }

  /**
   * Ends the application of entries: those that Ratis still has are left to the next start. While a
   * group is being closed Ratis waits for them, for ever if one of them fails.
   *
   * @return whether an entry has failed before, by which Ratis closes the group itself
   */
  synchronized boolean end() {
    ended = true;
    return failed;
  }

  @Override
  public void notifyLeaderChanged(RaftGroupMemberId member, RaftPeerId leader) {
    super.notifyLeaderChanged(member, leader);
    if (leader != null) {
      observer.onLeader(leader.toString());
    }
  }

  /** Returns whether the log could not be written. */
  boolean hasLogFailed() {
    return logFailed;
  }

  /** Takes note that the log could not be written: Ratis writes nothing more. */
  @Override
  public void notifyLogFailed(Throwable cause, @Nullable LogEntryProto entry) {
    logFailed = true;
    observer.onFailure(cause);
  }
}
