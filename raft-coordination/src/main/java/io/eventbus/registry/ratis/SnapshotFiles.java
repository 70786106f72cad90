package io.eventbus.registry.ratis;

import io.eventbus.registry.codec.RegistryFormatException;
import io.eventbus.registry.codec.SnapshotFormat;
import io.eventbus.registry.state.RegistryState;
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
import java.util.Objects;
import org.apache.ratis.io.MD5Hash;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.apache.ratis.util.MD5FileUtil;

/** Snapshots of the registry as files where the engine looks for them. */
final class SnapshotFiles {
  private SnapshotFiles() {}

  /** Reads a snapshot, after its checksum was found to be right. */
  static RegistryState read(SingleFileSnapshotInfo snapshot) throws IOException {
    Path file = snapshot.getFile().getPath();
    MD5Hash digest = snapshot.getFile().getFileDigest();
    if (digest == null) {
      throw new RegistryFormatException("snapshot " + file + ": its checksum is missing");
    }
    MD5FileUtil.verifySavedMD5(file.toFile(), digest);
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
      return SnapshotFormat.read(in);
    }
  }

  /** Makes durable what is there: the engine does not do this for a snapshot of the leader's. */
  static void sync(SingleFileSnapshotInfo snapshot) throws IOException {
    Path file = snapshot.getFile().getPath();
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.force(true);
    }
    DataDirectory.sync(Objects.requireNonNull(file.getParent()));
  }

  /** Writes a snapshot; it is on the disk, whole, or not there at all. */
  static void write(SimpleStateMachineStorage storage, RegistryState state, TermIndex at)
      throws IOException {
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
      SnapshotFormat.write(state, out);
      out.flush();
      channel.force(true);
    }
    Files.move(
        temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    MD5Hash digest = MD5FileUtil.computeAndSaveMd5ForFile(file.toFile());
    DataDirectory.sync(directory);
    storage.updateLatestSnapshot(new SingleFileSnapshotInfo(new FileInfo(file, digest), at));
  }
}
