package io.eventbus.journal.ratis;

import io.eventbus.journal.store.ShardStore;
import io.eventbus.raft.RatisGroup;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Cut of a shard's log behind what the store has brought to its disk, and what all members have. A
 * member that is away keeps the log from being cut, up to a size; beyond that it is left behind.
 * Any thread.
 */
final class LogCutter {
  private static final long TIMEOUT_MILLIS = 10_000;

  /** Time for which the log is kept after a member has asked for it, several times as often. */
  private static final long KEEP_NANOS = TimeUnit.SECONDS.toNanos(90);

  /** Maximum number of members for which the log is kept. */
  private static final int MAX_KEPT = 64;

  /**
   * Size up to which the log is kept for copies, in that for members that are away. With the 4 GiB
   * and 64 MiB/s of a bus, a copy of 20 GiB ends in time while 100 MB/s are published.
   */
  private static final int COPY_FACTOR = 8;

  private static final String PREFIX = "log_";
  private static final String OPEN = "log_inprogress_";

  private final ShardStore store;
  private final RatisGroup group;
  private final String self;
  private final Path files;
  private final long maxBytes;
  // When each member has asked for it last, in nanoseconds.
  private final Map<String, Long> kept = new ConcurrentHashMap<>();
  private long cut;
  private volatile long neededFrom;

  /**
   * Creates a cutter.
   *
   * @param self the member of this bus
   * @param files directory of the files of the log
   * @param maxBytes size up to which the log is kept for members that lack it
   */
  LogCutter(ShardStore store, RatisGroup group, String self, Path files, long maxBytes) {
    this.store = store;
    this.group = group;
    this.self = self;
    this.files = files;
    this.maxBytes = maxBytes;
    cut = store.appliedOnDisk().index();
  }

  /**
   * Keeps all of the log that there is for a member that gets a copy, up to a greater size than for
   * others: an outdated copy was in vain. Ends when the member has not asked again in time.
   */
  void keep(String member) {
    if (kept.size() < MAX_KEPT || kept.containsKey(member)) {
      kept.put(member, System.nanoTime());
    }
  }

  private boolean isKept() {
    long now = System.nanoTime();
    kept.values().removeIf(since -> now - since > KEEP_NANOS);
    return !kept.isEmpty();
  }

  /** Returns the first index of the log that is kept for members. */
  long neededFrom() {
    return neededFrom;
  }

  /** Cuts the log if there is something to be cut. */
  synchronized void check() throws InterruptedException, ExecutionException, IOException {
    long needed = least(group, self);
    long onDisk = store.appliedOnDisk().index();
    if (needed <= onDisk) {
      needed = Math.max(needed, firstWithin(files, maxBytes));
    }
    if (isKept()) {
      needed = Math.min(needed, firstWithin(files, COPY_FACTOR * maxBytes));
    }
    neededFrom = needed;
    long upTo = Math.min(onDisk, needed - 1);
    if (upTo > cut) {
      long unused = group.takeSnapshot(TIMEOUT_MILLIS, 1).get();
      cut = upTo;
    }
  }

  /**
   * Returns the last entry that each of the others is known to have, as the one that has to agree
   * with that before the next entry.
   */
  private static long least(RatisGroup group, String self) {
    List<String> members = group.memberIds();
    if (!members.contains(self)) {
      // The group ends.
      return 0;
    }
    Map<String, Long> known = group.positions();
    long least = Long.MAX_VALUE;
    for (String member : members) {
      if (!member.equals(self)) {
        least = Math.min(least, Math.max(0, known.getOrDefault(member, 0L)));
      }
    }
    return least;
  }

  /**
   * Returns the first index of the newest files of a log that together have at most that many
   * bytes; that of the newest if it alone has more, 0 if there is none.
   */
  static long firstWithin(Path files, long maxBytes) throws IOException {
    NavigableMap<Long, Long> sizes = sizes(files);
    long first = sizes.isEmpty() ? 0 : sizes.lastKey();
    long bytes = 0;
    for (Map.Entry<Long, Long> file : sizes.descendingMap().entrySet()) {
      bytes += file.getValue();
      if (bytes > maxBytes) {
        break;
      }
      first = file.getKey();
    }
    return first;
  }

  private static NavigableMap<Long, Long> sizes(Path files) throws IOException {
    NavigableMap<Long, Long> sizes = new TreeMap<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(files, PREFIX + "*")) {
      for (Path file : all) {
        String name = String.valueOf(file.getFileName());
        int dash = name.indexOf('-');
        String start =
            name.startsWith(OPEN)
                ? name.substring(OPEN.length())
                : name.substring(PREFIX.length(), Math.max(dash, PREFIX.length()));
        try {
          sizes.put(Long.parseLong(start), Files.size(file));
        } catch (NumberFormatException | NoSuchFileException e) {
          // Another file of Ratis's, or one that has just been cut or closed.
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return sizes;
  }
}
