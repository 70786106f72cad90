package io.eventbus.journal.ratis;

import io.eventbus.base.SyncedFile;
import io.eventbus.journal.store.AppliedEntry;
import io.eventbus.raft.repair.DurableFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.UUID;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.jspecify.annotations.Nullable;

/**
 * Directory of a shard: {@code log} and {@code store}, and files {@code identity} that say whose
 * they are. The store has a row that says the same. A part that is missing or another's must not be
 * taken for a new one: what was confirmed would be gone without a word.
 *
 * <p>Locked while it is open.
 */
final class ShardDirectory implements AutoCloseable {
  private static final String FORMAT = "format 1";
  private static final String CREATING = "creating";
  private static final String READY = "ready";

  private final Path directory;
  private final List<String> identity;
  private final FileChannel lock;
  private final boolean fresh;

  private ShardDirectory(Path directory, List<String> identity, FileChannel lock, boolean fresh) {
    this.directory = directory;
    this.identity = identity;
    this.lock = lock;
    this.fresh = fresh;
  }

  /**
   * Opens the directory of a shard, and creates it if there is none.
   *
   * @param root the directory of all shards
   * @throws IOException if it is used by another process, or a part is missing or another's
   */
  static ShardDirectory open(Path root, int shard, UUID group, String member) throws IOException {
    Path directory = root.resolve("shards").resolve(Integer.toString(shard));
    Files.createDirectories(directory);
    FileChannel lock = lock(directory);
    try {
      List<String> identity = List.of(FORMAT, "group " + group, "member " + member);
      boolean fresh = check(directory, identity, group);
      if (fresh) {
        create(directory, identity);
      }
      return new ShardDirectory(directory, identity, lock, fresh);
    } catch (IOException | RuntimeException e) {
      lock.close();
      throw e;
    }
  }

  private static FileChannel lock(Path directory) throws IOException {
    Path file = directory.resolve("lock");
    FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    FileLock lock = null;
    try {
      lock = channel.tryLock();
    } catch (OverlappingFileLockException e) {
      // This process has it.
    }
    if (lock == null) {
      channel.close();
      throw new IOException(directory + ": in use (expected: one user)");
    }
    return channel;
  }

  /** Returns whether there is nothing that was ever ready; fails if a part of it is missing. */
  private static boolean check(Path directory, List<String> identity, UUID group)
      throws IOException {
    Path log = directory.resolve("log");
    Path store = directory.resolve("store");
    List<String> found = read(directory.resolve("identity"));
    if (found == null) {
      if (Files.exists(log) || Files.exists(store)) {
        throw new IOException(
            directory + ": log or store, but no file \"identity\" (expected: all, or none)");
      }
      return true;
    }
    String state = found.isEmpty() ? "" : found.get(found.size() - 1);
    List<String> owner = found.subList(0, Math.max(0, found.size() - 1));
    expect(directory.resolve("identity"), owner, identity);
    if (state.equals(CREATING)) {
      return true;
    }
    if (!state.equals(READY)) {
      throw new IOException(
          directory.resolve("identity")
              + ": state \""
              + state
              + "\" (expected: "
              + CREATING
              + " or "
              + READY
              + ")");
    }
    List<String> logOwner = read(log.resolve("identity"));
    if (logOwner == null || !Files.isDirectory(log.resolve(group.toString()).resolve("current"))) {
      throw new IOException(log + ": missing (expected: the log of " + identity + ")");
    }
    expect(log.resolve("identity"), logOwner, identity);
    if (!Files.exists(store.resolve("CURRENT"))) {
      throw new IOException(store + ": missing (expected: the store of " + identity + ")");
    }
    return false;
  }

  private static void expect(Path file, List<String> found, List<String> identity)
      throws IOException {
    if (!found.equals(identity)) {
      throw new IOException(file + ": " + found + " (expected: " + identity + ")");
    }
  }

  private static @Nullable List<String> read(Path file) throws IOException {
    return Files.exists(file) ? Files.readAllLines(file) : null;
  }

  private static void create(Path directory, List<String> identity) throws IOException {
    write(directory.resolve("identity"), identity, CREATING);
    // Left by a creation that was cut short, before anything could be published.
    delete(directory.resolve("log"));
    delete(directory.resolve("store"));
    Path log = Files.createDirectories(directory.resolve("log"));
    Files.write(log.resolve("identity"), identity);
    DurableFiles.syncTree(log);
  }

  private static void write(Path file, List<String> identity, String state) throws IOException {
    SyncedFile.write(file, String.join("\n", identity) + "\n" + state + "\n");
  }

  private static void delete(Path tree) throws IOException {
    if (!Files.exists(tree)) {
      return;
    }
    Files.walkFileTree(
        tree,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException error)
              throws IOException {
            Files.delete(directory);
            return FileVisitResult.CONTINUE;
          }
        });
  }

  /**
   * Checks that the log has the last entry that the store has applied, and all after it. No member
   * applies what its log has not on the disk, takes an entry off its log that is committed, or cuts
   * the log up to its end.
   */
  void checkLog(RaftLog log, AppliedEntry onDisk) throws IOException {
    TermIndex last = log.getLastEntryTermIndex();
    long end = last == null ? -1 : last.getIndex();
    long start = log.getStartIndex();
    long stored = onDisk.equals(AppliedEntry.NONE) ? -1 : onDisk.index();
    if (stored > end || (end >= 0 && start > stored + 1)) {
      throw new IOException(
          log()
              + ": entries "
              + start
              + " to "
              + end
              + ", store: up to entry "
              + stored
              + " (expected: a log that begins at most behind the entries of its store, and does"
              + " not end before them)");
    }
  }

  /** Returns whether log and store are to be created. */
  boolean isFresh() {
    return fresh;
  }

  /** Takes note that log and store are there: from now on they must not be missing. */
  void ready() throws IOException {
    if (fresh) {
      DurableFiles.syncTree(directory.resolve("log"));
      write(directory.resolve("identity"), identity, READY);
    }
  }

  Path log() {
    return directory.resolve("log");
  }

  Path store() {
    return directory.resolve("store");
  }

  @Override
  public void close() throws IOException {
    lock.close();
  }
}
