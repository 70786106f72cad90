package io.eventbus.registry.ratis;

import io.eventbus.registry.BusId;
import io.eventbus.registry.state.RegistryState;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;
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
 * The files with which a new cluster begins from a registry that is there already: a snapshot, as
 * if there had been a log before it. Others that join get it from the leader, as they would any
 * other.
 */
final class SeededFiles {
  private static final TermIndex BEGIN = TermIndex.valueOf(1, 1);

  private SeededFiles() {}

  /** Writes them below a directory that is not there yet; all of it is on the disk then. */
  static void write(Path engine, UUID cluster, BusId bus, RegistryState state) throws IOException {
    Path files = Files.createDirectories(engine.resolve(cluster.toString()));
    try (RaftStorage storage =
        StorageImplUtils.newRaftStorage(
            files.toFile(), SizeInBytes.ZERO, StartupOption.FORMAT, CorruptionPolicy.EXCEPTION)) {
      storage.initialize();
      storage
          .getMetadataFile()
          .persist(RaftStorageMetadata.valueOf(BEGIN.getTerm(), RaftPeerId.valueOf(bus.value())));
      SimpleStateMachineStorage snapshots = new SimpleStateMachineStorage();
      snapshots.init(storage);
      Files.createDirectories(
          Objects.requireNonNull(
              snapshots.getSnapshotFile(BEGIN.getTerm(), BEGIN.getIndex()).toPath().getParent()));
      SnapshotFiles.write(snapshots, state, BEGIN);
    }
    sync(engine);
  }

  /** Makes a whole tree durable. */
  private static void sync(Path root) throws IOException {
    List<Path> all;
    try (Stream<Path> tree = Files.walk(root)) {
      all = tree.toList();
    }
    for (Path path : all) {
      if (Files.isDirectory(path)) {
        DataDirectory.sync(path);
      } else {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
          channel.force(true);
        }
      }
    }
    DataDirectory.sync(Objects.requireNonNull(root.toAbsolutePath().getParent()));
  }
}
