package io.eventbus.raft.repair;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.UUID;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServerConfigKeys.Log.CorruptionPolicy;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.server.storage.RaftStorage.StartupOption;
import org.apache.ratis.server.storage.RaftStorageMetadata;
import org.apache.ratis.server.storage.StorageImplUtils;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.util.SizeInBytes;

/**
 * Files with which a new group begins from an existing state: a snapshot, as if there had been a
 * log before it. Members that join get it from the leader, as they would any other.
 *
 * <p>The gap: Ratis cannot begin a group with a state. These are the files that it writes itself,
 * made with its own classes that are no part of its interface. No upstream ticket is known.
 *
 * <p>Remove when a group can be started from a snapshot.
 */
public final class BootstrapSnapshotFiles {
  private static final TermIndex BEGIN = TermIndex.valueOf(1, 1);

  private BootstrapSnapshotFiles() {}

  /**
   * Writer of the state to the place that the storage names for that entry; its files are durable.
   */
  public interface SnapshotWriter {
    /** Writes the snapshot. */
    void write(SimpleStateMachineStorage storage, TermIndex at) throws IOException;
  }

  /**
   * Writes the files of a group below a directory that does not exist yet; all of it is on the disk
   * then.
   */
  public static void write(Path directory, UUID group, String peer, SnapshotWriter snapshot)
      throws IOException {
    Path files = Files.createDirectories(directory.resolve(group.toString()));
    try (RaftStorage storage =
        StorageImplUtils.newRaftStorage(
            files.toFile(), SizeInBytes.ZERO, StartupOption.FORMAT, CorruptionPolicy.EXCEPTION)) {
      storage.initialize();
      storage
          .getMetadataFile()
          .persist(RaftStorageMetadata.valueOf(BEGIN.getTerm(), RaftPeerId.valueOf(peer)));
      SimpleStateMachineStorage snapshots = new SimpleStateMachineStorage();
      snapshots.init(storage);
      Files.createDirectories(
          Objects.requireNonNull(
              snapshots.getSnapshotFile(BEGIN.getTerm(), BEGIN.getIndex()).toPath().getParent()));
      snapshot.write(snapshots, BEGIN);
    }
    DurableFiles.syncTree(directory);
  }
}
