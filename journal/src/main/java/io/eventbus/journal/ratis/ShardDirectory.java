package io.eventbus.journal.ratis;

import io.eventbus.base.SyncedFile;
import io.eventbus.journal.store.AppliedEntry;
import io.eventbus.raft.repair.DurableFiles;
import io.eventbus.raft.repair.OfflineLogReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
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
  private static final String COPYING = "copying";

  /** Index of no entry, and of a replica that was never copied. */
  private static final long NONE = -1;

  /**
   * State that the file {@code identity} tells.
   *
   * @param word one of those above
   * @param index when ready: the last entry of the copy from which the replica has gone on; while
   *     it is copied: the least entry that the copy has to have. Otherwise -1
   */
  private record State(String word, long index) {
    static State parse(Path file, String line) throws IOException {
      int space = line.indexOf(' ');
      String word = space < 0 ? line : line.substring(0, space);
      try {
        long index = space < 0 ? NONE : Long.parseLong(line.substring(space + 1));
        if (List.of(CREATING, READY, COPYING).contains(word) && index >= NONE) {
          return new State(word, index);
        }
      } catch (NumberFormatException e) {
        // Told below.
      }
      throw new IOException(
          file
              + (": state \""
                  + line
                  + "\" (expected: "
                  + CREATING
                  + ", "
                  + READY
                  + " or "
                  + COPYING)
              + ", perhaps with the index of an entry)");
    }

    @Override
    public String toString() {
      return index == NONE ? word : word + " " + index;
    }
  }

  private final Path directory;
  private final List<String> identity;
  private final UUID group;
  private final FileChannel lock;
  private final boolean fresh;
  private State state;

  private ShardDirectory(
      Path directory, List<String> identity, UUID group, FileChannel lock, State state) {
    this.directory = directory;
    this.identity = identity;
    this.group = group;
    this.lock = lock;
    this.state = state;
    fresh = state.word().equals(CREATING);
  }

  /**
   * Opens the directory of a shard, and creates it if there is none.
   *
   * @param root the directory of all shards
   * @throws IOException if it is used by another process, or a part is missing or another's
   */
  static ShardDirectory open(Path root, int shard, UUID group, String member) throws IOException {
    Path directory = root.resolve("shards").resolve(Integer.toString(shard));
    SyncedFile.createDirectories(directory);
    FileChannel lock = lock(directory);
    try {
      List<String> identity = List.of(FORMAT, "group " + group, "member " + member);
      State state = check(directory, identity, group);
      if (state.word().equals(CREATING)) {
        create(directory, identity);
      }
      return new ShardDirectory(directory, identity, group, lock, state);
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

  /** Returns the state of what is there; fails if a part of it is missing. */
  private static State check(Path directory, List<String> identity, UUID group) throws IOException {
    Path log = directory.resolve("log");
    Path store = directory.resolve("store");
    List<String> found = read(directory.resolve("identity"));
    if (found == null) {
      if (Files.exists(log) || Files.exists(store)) {
        throw new IOException(
            directory + ": log or store, but no file \"identity\" (expected: all, or none)");
      }
      return new State(CREATING, NONE);
    }
    State state =
        State.parse(
            directory.resolve("identity"), found.isEmpty() ? "" : found.get(found.size() - 1));
    List<String> owner = found.subList(0, Math.max(0, found.size() - 1));
    expect(directory.resolve("identity"), owner, identity);
    if (state.word().equals(CREATING)) {
      return state;
    }
    List<String> logOwner = read(log.resolve("identity"));
    if (logOwner == null || !Files.isDirectory(log.resolve(group.toString()).resolve("current"))) {
      throw new IOException(log + ": missing (expected: the log of " + identity + ")");
    }
    expect(log.resolve("identity"), logOwner, identity);
    if (state.word().equals(READY) && !Files.exists(store.resolve("CURRENT"))) {
      throw new IOException(store + ": missing (expected: the store of " + identity + ")");
    }
    return state;
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
    write(directory.resolve("identity"), identity, new State(CREATING, NONE));
    // Left by a creation that was cut short, before anything could be published.
    delete(directory.resolve("log"));
    delete(directory.resolve("store"));
    Path log = Files.createDirectories(directory.resolve("log"));
    Files.write(log.resolve("identity"), identity);
    DurableFiles.syncTree(log);
  }

  private static void write(Path file, List<String> identity, State state) throws IOException {
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
   * the log up to its end. Behind a copy, and only there, the log begins with no entry.
   */
  void checkLog(RaftLog log, AppliedEntry onDisk) throws IOException {
    TermIndex last = log.getLastEntryTermIndex();
    long end = last == null ? -1 : last.getIndex();
    long start = log.getStartIndex();
    long stored = onDisk.equals(AppliedEntry.NONE) ? -1 : onDisk.index();
    boolean copied = end < 0 && stored >= 0 && stored == state.index();
    if ((stored > end && !copied) || (end >= 0 && start > stored + 1)) {
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
      enter(new State(READY, NONE));
    }
  }

  private void enter(State next) throws IOException {
    write(directory.resolve("identity"), identity, next);
    state = next;
  }

  /** Returns whether log and store are of no use until a copy is complete. */
  boolean isCopying() {
    return state.word().equals(COPYING);
  }

  /** Returns the least entry that a copy has to have. */
  long least() {
    return state.index();
  }

  /**
   * Gives up log and store of a replica that is closed, for a copy.
   *
   * <p>Term and vote stay: the replica must not vote a second time in a term. What it has
   * acknowledged before may be committed, so that a copy must have no fewer entries than its log;
   * the number is on the disk before the log is not any more.
   *
   * @param least the least entry that the copy has to have for another reason
   */
  void beginCopy(long least) throws IOException {
    checkVote();
    long last = OfflineLogReader.lastIndex(log().resolve(group.toString()));
    enter(new State(COPYING, Math.max(least, last)));
    clear();
  }

  /** Fails if term and vote are not there. */
  private void checkVote() throws IOException {
    Path vote = current().resolve("raft-meta");
    if (!Files.exists(vote)) {
      throw new IOException(
          vote
              + ": missing (expected: term and vote of "
              + identity
              + ", which it may not repeat)");
    }
  }

  /** Deletes log and store, for a copy that begins. */
  void clear() throws IOException {
    checkVote();
    delete(store());
    try (DirectoryStream<Path> files = Files.newDirectoryStream(current(), "log_*")) {
      for (Path file : files) {
        Files.delete(file);
      }
    }
    DurableFiles.syncDirectory(current());
  }

  /**
   * Takes note that a copy is complete, and that its rows are on the disk.
   *
   * @param applied the last entry of the copy
   * @param configuration the members at that entry, in the form in which Raft stores them: those
   *     that were stored here may be of long ago
   */
  void endCopy(long applied, ByteBuffer configuration) throws IOException {
    SyncedFile.write(current().resolve("raft-meta.conf"), configuration);
    DurableFiles.syncTree(store());
    enter(new State(READY, applied));
  }

  /** Returns the directory of the files of the log. */
  Path current() {
    return log().resolve(group.toString()).resolve("current");
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
