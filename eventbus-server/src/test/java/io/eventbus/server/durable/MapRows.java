package io.eventbus.server.durable;

import io.eventbus.journal.rows.RowScan;
import io.eventbus.journal.rows.Rows;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Rows of a shard in memory. Changes are seen after {@link #commit}. */
final class MapRows implements Rows {
  private final NavigableMap<byte[], byte[]> committed = new TreeMap<>(Arrays::compareUnsigned);
  private final List<Runnable> changes = new ArrayList<>();

  /** Makes the changes since the last call visible. */
  void commit() {
    changes.forEach(Runnable::run);
    changes.clear();
  }

  @Override
  public byte @Nullable [] get(byte[] key) {
    byte[] value = committed.get(key);
    return value == null ? null : value.clone();
  }

  @Override
  public RowScan scan(byte[] from, byte[] to) {
    return new Scan(copyRange(from, to));
  }

  @Override
  public RowScan scanReverse(byte[] from, byte[] to) {
    return new Scan(copyRange(from, to).descendingMap());
  }

  private NavigableMap<byte[], byte[]> copyRange(byte[] from, byte[] to) {
    return new TreeMap<>(committed.subMap(from, true, to, false));
  }

  @Override
  public void put(byte[] key, byte[] value) {
    byte[] keptKey = key.clone();
    byte[] keptValue = value.clone();
    changes.add(() -> committed.put(keptKey, keptValue));
  }

  @Override
  public void put(byte[] key, ByteBuffer value) {
    byte[] bytes = new byte[value.remaining()];
    value.get(value.position(), bytes);
    put(key, bytes);
  }

  @Override
  public void delete(byte[] key) {
    byte[] keptKey = key.clone();
    changes.add(() -> committed.remove(keptKey));
  }

  @Override
  public void deleteRange(byte[] from, byte[] to) {
    byte[] keptFrom = from.clone();
    byte[] keptTo = to.clone();
    changes.add(() -> committed.subMap(keptFrom, true, keptTo, false).clear());
  }

  private static final class Scan implements RowScan {
    private final Iterator<Map.Entry<byte[], byte[]>> left;
    private Map.@Nullable Entry<byte[], byte[]> at;

    Scan(NavigableMap<byte[], byte[]> rows) {
      left = rows.entrySet().iterator();
    }

    @Override
    public boolean next() {
      at = left.hasNext() ? left.next() : null;
      return at != null;
    }

    @Override
    public byte[] key() {
      return row().getKey().clone();
    }

    @Override
    public byte[] value() {
      return row().getValue().clone();
    }

    private Map.Entry<byte[], byte[]> row() {
      Map.Entry<byte[], byte[]> row = at;
      if (row == null) {
        throw new IllegalStateException("scan: at no row (expected: at one)");
      }
      return row;
    }

    @Override
    public void close() {}
  }
}
