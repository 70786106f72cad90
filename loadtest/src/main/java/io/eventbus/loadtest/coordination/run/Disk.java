package io.eventbus.loadtest.coordination.run;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Disk with the servers' data. Every write has to reach it before it counts, so it decides a good
 * part of every figure.
 *
 * @param warning why the figures say nothing of a disk; empty if they do
 */
public record Disk(String store, double fsyncMillis, String warning) {
  private static final Set<String> NO_DISK = Set.of("tmpfs", "ramfs", "overlay", "overlayfs");
  private static final int BLOCK = 4096;
  private static final int SAMPLES = 200;
  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(2);

  /**
   * Looks at a directory and measures.
   *
   * @throws IOException if nothing can be written
   */
  public static Disk of(Path directory) throws IOException {
    FileStore store = Files.getFileStore(directory);
    return new Disk(
        store.name() + " (" + store.type() + ")", fsyncMillis(directory), warning(store.type()));
  }

  /** Returns the warning about a type of file system; empty if it is on a disk. */
  static String warning(String type) {
    return NO_DISK.contains(type.toLowerCase(Locale.ROOT))
        ? "the data is on "
            + type
            + ": writes may never reach a disk, and the figures say nothing"
            + " of one; name a directory on the disk with --data"
        : "";
  }

  private static double fsyncMillis(Path directory) throws IOException {
    Path file = Files.createTempFile(directory, "fsync-", ".probe");
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      long[] nanos = new long[SAMPLES];
      int count = 0;
      long start = System.nanoTime();
      while (count < SAMPLES && (count == 0 || System.nanoTime() - start < LIMIT_NANOS)) {
        ByteBuffer block = ByteBuffer.allocate(BLOCK);
        long begun = System.nanoTime();
        while (block.hasRemaining()) {
          channel.write(block);
        }
        channel.force(false);
        nanos[count++] = System.nanoTime() - begun;
      }
      Arrays.sort(nanos, 0, count);
      return nanos[count / 2] / 1e6;
    } finally {
      Files.deleteIfExists(file);
    }
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%s, write and fsync of 4 KiB: %.3f ms", store, fsyncMillis);
  }
}
