package io.eventbus.raft;

import io.eventbus.raft.repair.DurableFiles;
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

/** Snapshots of a state as files where Ratis looks for them. Everything waits for the disk. */
public final class SnapshotFiles<S> {
  /** Content of such a file. */
  public interface Format<S> {
    /** Reads a state; fails if the bytes are none. */
    S read(InputStream in) throws IOException;

    /** Writes a state. */
    void write(S state, OutputStream out) throws IOException;
  }

  private final Format<S> format;

  /** Creates files of that format. */
  public SnapshotFiles(Format<S> format) {
    this.format = format;
  }

  /** Reads a snapshot, after its checksum was found to be right. */
  public S read(SingleFileSnapshotInfo snapshot) throws IOException {
    Path file = snapshot.getFile().getPath();
    MD5Hash digest = snapshot.getFile().getFileDigest();
    if (digest == null) {
      throw new IOException("snapshot " + file + ": its checksum is missing");
    }
    MD5FileUtil.verifySavedMD5(file.toFile(), digest);
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
      return format.read(in);
    }
  }

  /** Writes a snapshot, which is on the disk whole or not at all. */
  public void write(SimpleStateMachineStorage storage, S state, TermIndex at) throws IOException {
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
      format.write(state, out);
      out.flush();
      channel.force(true);
    }
    Files.move(
        temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    MD5Hash digest = MD5FileUtil.computeAndSaveMd5ForFile(file.toFile());
    DurableFiles.syncDirectory(directory);
    storage.updateLatestSnapshot(new SingleFileSnapshotInfo(new FileInfo(file, digest), at));
  }
}
