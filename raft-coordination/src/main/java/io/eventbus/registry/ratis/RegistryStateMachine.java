package io.eventbus.registry.ratis;

import io.eventbus.raft.repair.DurableFiles;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.codec.RegistryCodec;
import io.eventbus.registry.codec.RegistryFormatException;
import io.eventbus.registry.ratis.disk.RegistryFiles;
import io.eventbus.registry.state.Applied;
import io.eventbus.registry.state.RegistryState;
import io.eventbus.registry.state.StateDiff;
import io.eventbus.registry.state.StateMachine;
import io.eventbus.registry.state.TimedCommand;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.apache.ratis.util.LifeCycle;
import org.jspecify.annotations.Nullable;

/**
 * State machine that applies the group's log to this bus's copy of the registry.
 *
 * <p>Ratis calls it on one thread for everything that changes the state; the state itself is
 * immutable, so that any thread may read it.
 */
final class RegistryStateMachine extends BaseStateMachine {
  /** Observer of the state machine; called on threads of Ratis, and must not block long. */
  interface Observer {
    /** Called with a new state, and the changes since the one before. */
    void onState(RegistryState state, List<RegistryChange> changes);

    /** Called when there is another leader, or none (null). */
    void onLeader(@Nullable String bus);

    /** Called when Ratis cannot go on. */
    void onFailure(Throwable cause);
  }

  private final SimpleStateMachineStorage storage = new SimpleStateMachineStorage();
  private final RegistryClock clock;
  private final LongConsumer applied;
  private final Observer observer;
  private volatile RegistryState state;

  private volatile boolean logFailed;

  RegistryStateMachine(
      RegistryState first, RegistryClock clock, LongConsumer applied, Observer observer) {
    this.state = first;
    this.clock = clock;
    this.applied = applied;
    this.observer = observer;
  }

  RegistryState state() {
    return state;
  }

  /** Returns the index of the last log entry that is in the state; -1 for none. */
  long appliedIndex() {
    return getLastAppliedTermIndex().getIndex();
  }

  @Override
  public void initialize(RaftServer server, RaftGroupId group, RaftStorage raftStorage)
      throws IOException {
    super.initialize(server, group, raftStorage);
    storage.init(raftStorage);
    getLifeCycle().startAndTransition(this::load, IOException.class);
  }

  @Override
  public void pause() {
    getLifeCycle().transition(LifeCycle.State.PAUSING);
    getLifeCycle().transition(LifeCycle.State.PAUSED);
  }

  /** Reloads the state, because a snapshot of the leader's has replaced it. */
  @Override
  public void reinitialize() throws IOException {
    getLifeCycle().startAndTransition(this::load, IOException.class);
  }

  @Override
  public SimpleStateMachineStorage getStateMachineStorage() {
    return storage;
  }

  private void load() throws IOException {
    SingleFileSnapshotInfo snapshot = storage.loadLatestSnapshot();
    if (snapshot == null) {
      return;
    }
    RegistryState read = RegistryFiles.SNAPSHOTS.read(snapshot);
    // Ratis does not, for a snapshot that the leader has sent.
    DurableFiles.syncFile(snapshot.getFile().getPath());
    RegistryState before = state;
    setLastAppliedTermIndex(snapshot.getTermIndex());
    clock.restart(read.snapshot().timeMillis());
    publish(read, StateDiff.between(before.snapshot(), read.snapshot()));
    applied.accept(snapshot.getIndex());
  }

  @Override
  public long takeSnapshot() throws IOException {
    RegistryState taken = state;
    TermIndex at = getLastAppliedTermIndex();
    if (at.getIndex() < 0) {
      return -1;
    }
    RegistryFiles.SNAPSHOTS.write(storage, taken, at);
    return at.getIndex();
  }

  @Override
  public TransactionContext startTransaction(RaftClientRequest request) throws IOException {
    TransactionContext.Builder builder =
        TransactionContext.newBuilder().setStateMachine(this).setClientRequest(request);
    if (request.getMessage() instanceof BatchMessage batch) {
      builder.setStateMachineContext(batch);
    }
    return builder.build();
  }

  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
    LogEntryProto entry = Objects.requireNonNull(transaction.getLogEntry());
    try {
      List<TimedCommand> commands =
          transaction.getStateMachineContext() instanceof BatchMessage batch
              ? batch.commands()
              : RegistryCodec.decodeBatch(
                  entry.getStateMachineLogEntry().getLogData().asReadOnlyByteBuffer());
      List<CommandResult> results = apply(commands);
      updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
      return CompletableFuture.completedFuture(new ResultsMessage(results));
    } catch (RegistryFormatException | RuntimeException e) {
      // To go on without this entry would be to hold another registry than the others do.
      observer.onFailure(e);
      throw new IllegalStateException("log entry " + entry.getIndex() + " cannot be applied", e);
    }
  }

  private List<CommandResult> apply(List<TimedCommand> commands) {
    RegistryState next = state;
    List<CommandResult> results = new ArrayList<>(commands.size());
    List<RegistryChange> changes = new ArrayList<>();
    for (TimedCommand command : commands) {
      Applied applied = StateMachine.apply(next, command);
      next = applied.state();
      results.add(applied.result());
      changes.addAll(applied.changes());
    }
    clock.applied(next.snapshot().timeMillis());
    publish(next, changes);
    return results;
  }

  private void publish(RegistryState next, List<RegistryChange> changes) {
    long before = state.snapshot().version();
    state = next;
    if (next.snapshot().version() != before) {
      observer.onState(next, changes);
    }
  }

  @Override
  public void notifyLeaderChanged(RaftGroupMemberId member, RaftPeerId leader) {
    observer.onLeader(leader == null ? null : leader.toString());
  }

  @Override
  protected boolean updateLastAppliedTermIndex(TermIndex next) {
    boolean changed = super.updateLastAppliedTermIndex(next);
    applied.accept(next.getIndex());
    return changed;
  }

  /**
   * Returns whether the log could not be written, which Ratis reports before it fails the entries.
   */
  boolean hasLogFailed() {
    return logFailed;
  }

  @Override
  public void notifyLogFailed(Throwable cause, LogEntryProto entry) {
    logFailed = true;
    observer.onFailure(cause);
  }
}
