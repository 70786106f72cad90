package io.eventbus.loadtest.faults.buses;

import io.eventbus.journal.rows.DamagedRowException;
import io.eventbus.journal.rows.RowScan;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreIdentity;
import io.eventbus.journal.store.StoreLease;
import io.eventbus.journal.store.StoreOptions;
import io.eventbus.journal.store.StoreResources;
import io.eventbus.loadtest.driver.DriverException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Rows of the journals of a bus that does not run, as they are on its disk: events and their
 * indexes, topics, producers, cursors, counters. For one thread.
 */
public final class StoredRows implements AutoCloseable {
  /** A fault changes thousands of rows, and the first ones explain it. */
  private static final int SHOWN = 10;

  private static final int SHOWN_BYTES = 48;
  private static final String SHARD = "shards/shards/1";

  private final String name;
  private final StoreResources resources;
  private final ShardStore store;
  private final StoreLease lease;
  private final RowScan scan;
  private byte @Nullable [] key;

  private StoredRows(String name, StoreResources resources, ShardStore store) {
    this.name = name;
    this.resources = resources;
    this.store = store;
    lease = store.lease();
    scan = lease.scanAll();
    next();
  }

  /**
   * Opens the rows of a bus.
   *
   * @param data its data directory
   * @param library where the library of the store is unpacked to, and stays in use
   * @throws DriverException if they cannot be read
   */
  static StoredRows open(String name, Path data, Path library) {
    try {
      StoreIdentity identity = identity(data);
      StoreResources resources = StoreResources.open(library);
      ShardStore store =
          ShardStore.open(
              data.resolve(SHARD).resolve("store"),
              identity,
              StoreOptions.DEFAULT,
              resources,
              failure -> {});
      return new StoredRows(name, resources, store);
    } catch (IOException e) {
      throw new DriverException("the rows of " + name + " cannot be read: " + e.getMessage(), e);
    }
  }

  /** Reads which replica a data directory has. */
  static StoreIdentity identity(Path data) throws IOException {
    String group = "";
    String member = "";
    for (String line : Files.readAllLines(data.resolve(SHARD).resolve("identity"))) {
      String[] words = line.split(" ", 2);
      group = words[0].equals("group") ? words[1] : group;
      member = words[0].equals("member") ? words[1] : member;
    }
    return new StoreIdentity(UUID.fromString(group), member);
  }

  private void next() {
    key = scan.next() ? scan.key() : null;
  }

  /**
   * Compares all rows of buses that do not run.
   *
   * @param read told how many rows there are
   * @return what differs; nothing if the buses have not applied the same last entry
   * @throws DriverException if rows cannot be read
   */
  public static Optional<List<String>> differences(List<FaultBus> buses, LongConsumer read) {
    List<StoredRows> all = new ArrayList<>();
    try {
      buses.forEach(bus -> all.add(bus.rows()));
      long entries = all.stream().map(rows -> rows.lease.applied()).distinct().count();
      return entries == 1 ? Optional.of(compare(all, read)) : Optional.empty();
    } catch (DamagedRowException e) {
      throw new DriverException("rows cannot be read: " + e.getMessage(), e);
    } finally {
      all.forEach(StoredRows::close);
    }
  }

  /** Returns the first rows that are not the same everywhere, and how many there are. */
  static List<String> compare(List<StoredRows> all, LongConsumer read) {
    List<String> shown = new ArrayList<>();
    long different = 0;
    long rowCount = 0;
    byte @Nullable [] key = least(all);
    while (key != null) {
      List<byte @Nullable []> values = new ArrayList<>();
      for (StoredRows rows : all) {
        values.add(rows.take(key));
      }
      if (values.stream().anyMatch(value -> !Arrays.equals(value, values.get(0)))) {
        different++;
        if (different <= SHOWN) {
          shown.add(describe(all, key, values));
        }
      }
      rowCount++;
      key = least(all);
    }
    read.accept(rowCount);
    if (different > SHOWN) {
      shown.add(different + " rows are not the same");
    }
    return shown;
  }

  private static byte @Nullable [] least(List<StoredRows> all) {
    byte @Nullable [] least = null;
    for (StoredRows rows : all) {
      if (rows.key != null && (least == null || Arrays.compareUnsigned(rows.key, least) < 0)) {
        least = rows.key;
      }
    }
    return least;
  }

  /** Returns the value of a row, and goes on behind it; null if there is no such row. */
  private byte @Nullable [] take(byte[] wanted) {
    if (!Arrays.equals(key, wanted)) {
      return null;
    }
    byte[] value = scan.value();
    next();
    return value;
  }

  private static String describe(List<StoredRows> all, byte[] key, List<byte @Nullable []> values) {
    int from = firstDifference(values);
    StringBuilder text = new StringBuilder("row " + hex(key, 0) + " from byte " + from);
    for (int i = 0; i < all.size(); i++) {
      byte @Nullable [] value = values.get(i);
      text.append(", ").append(all.get(i).name).append(": ");
      text.append(value == null ? "none" : value.length + " bytes, " + hex(value, from));
    }
    return text.toString();
  }

  /** Returns where the first two values begin to differ that do. */
  private static int firstDifference(List<byte @Nullable []> values) {
    byte @Nullable [] first = values.get(0);
    for (byte @Nullable [] value : values) {
      if (first != null && value != null && !Arrays.equals(first, value)) {
        return Arrays.mismatch(first, value);
      }
    }
    return 0;
  }

  private static String hex(byte[] bytes, int from) {
    int begin = Math.min(from, bytes.length);
    int end = Math.min(bytes.length, begin + SHOWN_BYTES);
    return HexFormat.of().formatHex(bytes, begin, end) + (end < bytes.length ? "…" : "");
  }

  @Override
  public void close() {
    lease.close();
    store.close();
    resources.close();
  }
}
