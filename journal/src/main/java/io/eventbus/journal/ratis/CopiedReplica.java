package io.eventbus.journal.ratis;

import io.eventbus.journal.copy.CopySource;
import io.eventbus.journal.copy.ReplicaState;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreLease;
import io.eventbus.raft.RatisGroup;
import io.eventbus.raft.members.RaftMembers;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;

/**
 * Replica at this bus as others copy it.
 *
 * @param upToNow does what {@link ShardJournals#appliedUpToNow} says
 * @param files directory of the files of the log
 */
record CopiedReplica(
    RatisGroup group,
    ShardStore store,
    LogCutter cutter,
    BooleanSupplier ready,
    Supplier<CompletionStage<Void>> upToNow,
    Path files)
    implements CopySource.Replica {
  @Override
  public ReplicaState state() {
    RaftMembers members = group.nextMembers();
    String leader = group.leader();
    return new ReplicaState(
        leader == null ? "" : leader,
        ready.getAsBoolean(),
        group.configured(),
        members.voterIds(),
        members.listenerIds());
  }

  @Override
  public CompletionStage<Void> appliedUpToNow() {
    return upToNow.get();
  }

  @Override
  public StoreLease lease() {
    return store.lease();
  }

  @Override
  public long bytes() {
    return store.bytes();
  }

  @Override
  public CopySource.Configuration configuration() throws IOException {
    // Written by Ratis when the entry is applied, and exchanged as a whole.
    byte[] bytes = Files.readAllBytes(files.resolve("raft-meta.conf"));
    ByteBuffer entry = ByteBuffer.wrap(bytes);
    return new CopySource.Configuration(index(entry), entry);
  }

  /**
   * Returns the index of an entry that states members.
   *
   * @throws IOException if it is none
   */
  static long index(ByteBuffer bytes) throws IOException {
    LogEntryProto entry = LogEntryProto.parseFrom(bytes.duplicate());
    if (!entry.hasConfigurationEntry()) {
      throw new IOException("members: an entry without them (expected: one that states them)");
    }
    return entry.getIndex();
  }

  @Override
  public void keepLog(String member) {
    cutter.keep(member);
  }
}
