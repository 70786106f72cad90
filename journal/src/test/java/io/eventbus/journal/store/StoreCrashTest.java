package io.eventbus.journal.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.rows.RowScan;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process that applies entries is killed in the middle; what it leaves is a prefix of them. */
class StoreCrashTest {
  private static final byte[] SMALL_FROM = {7};
  private static final byte[] LARGE_FROM = {8};
  private static final byte[] END = {9};

  private final Path directory;

  StoreCrashTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private static byte[] key(int kind, long index) {
    return ByteBuffer.allocate(9).put((byte) kind).putLong(index).array();
  }

  /** Returns the value of a row, which follows from the index of the entry that wrote it. */
  private static byte[] value(long index, int bytes) {
    byte[] value = new byte[bytes];
    new Random(index).nextBytes(value);
    return value;
  }

  private static void apply(ShardStore store, long index) {
    try (StoreBatch batch = store.begin()) {
      batch.put(key(7, index), value(index, 20));
      batch.put(key(8, index), value(index, 6_000));
      // The row of each hundredth entry is gone with the next hundredth.
      if (index % 100 == 0 && index > 100) {
        batch.deleteRange(key(7, index - 100), key(7, index - 99));
      }
      batch.commit(new AppliedEntry(index / 1_000, index, index * 10));
    }
  }

  /** Process that is killed. */
  static final class Applying {
    private Applying() {}

    public static void main(String[] args) throws Exception {
      Path directory = Path.of(args[0]);
      ShardStore store =
          ShardStore.open(
              directory.resolve("store"),
              TestStores.IDENTITY,
              TestStores.SMALL,
              StoreResources.open(directory.resolve("native")),
              failure -> {});
      Random random = new Random(Long.parseLong(args[1]));
      for (long index = store.applied().index() + 1; ; index++) {
        apply(store, index);
        if (random.nextInt(200) == 0) {
          store.database().db.flush(store.database().flush);
        }
        System.out.println(index);
      }
    }
  }

  @Test
  @Timeout(240)
  void whatAKilledProcessLeavesIsAPrefixOfItsEntries() throws IOException, InterruptedException {
    long applied = 0;
    for (int round = 1; round <= 3; round++) {
      killAfter(applied + 700 + 100L * round, round);
      try (ShardStore store = TestStores.open(directory.resolve("store"))) {
        assertThat(store.applied()).isEqualTo(store.appliedOnDisk());
        assertThat(store.applied().index()).isGreaterThan(applied);
        applied = store.applied().index();
        assertThat(store.applied())
            .isEqualTo(new AppliedEntry(applied / 1_000, applied, applied * 10));
        assertRows(store, applied);
      }
    }
  }

  private void killAfter(long index, long seed) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Applying.class.getName(),
                directory.toString(),
                Long.toString(seed))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader said =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      long last = 0;
      while (last < index) {
        last = Long.parseLong(Objects.requireNonNull(said.readLine(), "the process has ended"));
      }
    } finally {
      process.destroyForcibly();
    }
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
  }

  private static void assertRows(ShardStore store, long applied) {
    try (StoreLease lease = store.lease()) {
      long index = 0;
      try (RowScan scan = lease.scan(SMALL_FROM, LARGE_FROM)) {
        while (scan.next()) {
          index++;
          while (index % 100 == 0 && index / 100 < applied / 100) {
            index++;
          }
          assertThat(scan.key()).isEqualTo(key(7, index));
          assertThat(scan.value()).isEqualTo(value(index, 20));
        }
      }
      assertThat(index).isEqualTo(applied);
      index = 0;
      try (RowScan scan = lease.scan(LARGE_FROM, END)) {
        while (scan.next()) {
          index++;
          assertThat(scan.key()).isEqualTo(key(8, index));
          assertThat(Arrays.equals(scan.value(), value(index, 6_000))).as("row %d", index).isTrue();
        }
      }
      assertThat(index).isEqualTo(applied);
    }
  }
}
