package io.eventbus.registry.ratis;

import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.codec.RegistryCodec;
import io.eventbus.registry.codec.RegistryFormatException;
import io.eventbus.registry.codec.SnapshotFormat;
import io.eventbus.registry.state.Applied;
import io.eventbus.registry.state.RegistryState;
import io.eventbus.registry.state.StateDiff;
import io.eventbus.registry.state.StateMachine;
import io.eventbus.registry.state.TimedCommand;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;
import org.apache.ratis.io.MD5Hash;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.apache.ratis.util.LifeCycle;
import org.apache.ratis.util.MD5FileUtil;
import org.jspecify.annotations.Nullable;

/**
 * Applies the engine's log to this bus's copy of the registry.
 *
 * <p>The engine calls it on one thread for everything that changes the state; the state itself is
 * immutable, so that anybody may read it.
 */
final class RegistryStateMachine extends BaseStateMachine {
  /** Who hears of what happens here; called on the engine's threads, and must not block long. */
  interface Observer {
    /** There is a new state; the changes are those since the one before. */
    void onState(RegistryState state, List<RegistryChange> changes);

    /** There is another leader, or none (null). */
    void onLeader(@Nullable String bus);

    /** The engine cannot go on. */
    void onFailure(Throwable cause);
  }

  private final SimpleStateMachineStorage storage = new SimpleStateMachineStorage();
  private final RegistryClock clock;
  private final LongConsumer applied;
  private final Observer observer;
  private volatile RegistryState state;

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

  /** A snapshot of the leader's has taken the place of what was here. */
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
    Path file = snapshot.getFile().getPath();
    MD5Hash digest = snapshot.getFile().getFileDigest();
    if (digest == null) {
      throw new RegistryFormatException("snapshot " + file + ": its checksum is missing");
    }
    MD5FileUtil.verifySavedMD5(file.toFile(), digest);
    // The engine does not do this for a snapshot that came from the leader.
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.force(true);
    }
    DataDirectory.sync(Objects.requireNonNull(file.getParent()));
    RegistryState read;
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
      read = SnapshotFormat.read(in);
    }
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
    Path file = storage.getSnapshotFile(at.getTerm(), at.getIndex()).toPath();
    Path directory = Objects.requireNonNull(file.getParent());
    Path temporary = directory.resolve(file.getFileName() + ".tmp");
    try (FileChannel channel =
        FileChannel.open(
            temporary,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      OutputStream out = new BufferedOutputStream(Channels.newOutputStream(channel), 1 << 16);
      SnapshotFormat.write(taken, out);
      out.flush();
      channel.force(true);
    }
    Files.move(
        temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    MD5Hash digest = MD5FileUtil.computeAndSaveMd5ForFile(file.toFile());
    DataDirectory.sync(directory);
    storage.updateLatestSnapshot(new SingleFileSnapshotInfo(new FileInfo(file, digest), at));
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

  /** A read that the engine has made linearizable: how far the log is applied here. */
  @Override
  public CompletableFuture<Message> query(Message request) {
    long index = getLastAppliedTermIndex().getIndex();
    return CompletableFuture.completedFuture(new IndexMessage(index));
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

  @Override
  public void notifyLogFailed(Throwable cause, LogEntryProto entry) {
    observer.onFailure(cause);
  }
}
