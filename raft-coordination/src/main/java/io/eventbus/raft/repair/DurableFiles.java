package io.eventbus.raft.repair;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Operations that make files and their names durable. Everything waits for the disk.
 *
 * <p>The fault: Ratis moves a snapshot that the leader has sent into place without an fsync, and
 * cuts the log that it replaces. No upstream ticket is known.
 *
 * <p>Remove the call for installed snapshots when {@code SnapshotManager.installSnapshot} forces
 * the files and their directory to the disk.
 */
public final class DurableFiles {
  private DurableFiles() {}

  /** Makes the content and the name of a file durable. */
  public static void syncFile(Path file) throws IOException {
    force(file);
    syncDirectory(Objects.requireNonNull(file.toAbsolutePath().getParent()));
  }

  private static void force(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.force(true);
    }
  }

  /** Makes changes of names in a directory durable, where the system can. */
  public static void syncDirectory(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** Makes a whole tree durable, and its name. */
  public static void syncTree(Path root) throws IOException {
    List<Path> all;
    try (Stream<Path> tree = Files.walk(root)) {
      all = tree.toList();
    }
    for (Path path : all) {
      if (Files.isDirectory(path)) {
        syncDirectory(path);
      } else {
        force(path);
      }
    }
    syncDirectory(Objects.requireNonNull(root.toAbsolutePath().getParent()));
  }
}
