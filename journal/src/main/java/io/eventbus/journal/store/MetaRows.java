package io.eventbus.journal.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/** Rows by which a store knows itself. Their keys begin with 0, which no other row's does. */
final class MetaRows {
  private static final byte KIND = 0;
  private static final byte FORMAT = 1;
  private static final int IDENTITY_HEAD = 17;

  /** Returns a key behind those of all rows. */
  static byte[] end() {
    return new byte[] {Byte.MAX_VALUE};
  }

  private MetaRows() {}

  static byte[] identityKey() {
    return key("identity");
  }

  static byte[] appliedKey() {
    return key("applied");
  }

  /** Returns the least key of all other rows. */
  static byte[] firstOfOthers() {
    return new byte[] {KIND + 1};
  }

  /** Returns whether a row is none of these. */
  static boolean isOther(byte[] key) {
    return key.length > 0 && key[0] > KIND;
  }

  private static byte[] key(String name) {
    byte[] text = name.getBytes(StandardCharsets.US_ASCII);
    return ByteBuffer.allocate(1 + text.length).put(KIND).put(text).array();
  }

  /**
   * Checks that a store belongs to its owner, and gives one that is empty to it.
   *
   * @return whether it is new, and the owner not on the disk yet
   */
  static boolean claim(Database database, StoreIdentity owner)
      throws IOException, RocksDBException {
    byte[] value = database.db.get(identityKey());
    if (value != null) {
      StoreIdentity found = decodeIdentity(value);
      if (!found.equals(owner)) {
        throw new IOException("of " + found + " (expected: of " + owner + ")");
      }
      return false;
    }
    try (RocksIterator rows = database.db.newIterator()) {
      rows.seekToFirst();
      rows.status();
      if (rows.isValid()) {
        throw new IOException("rows, but no row \"identity\" (expected: both, or neither)");
      }
    }
    database.db.put(database.write, identityKey(), encode(owner));
    return true;
  }

  static byte[] encode(StoreIdentity identity) {
    byte[] member = identity.member().getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(IDENTITY_HEAD + member.length)
        .put(FORMAT)
        .putLong(identity.group().getMostSignificantBits())
        .putLong(identity.group().getLeastSignificantBits())
        .put(member)
        .array();
  }

  static StoreIdentity decodeIdentity(byte[] value) throws IOException {
    if (value.length <= IDENTITY_HEAD || value[0] != FORMAT) {
      throw new IOException(
          "row \"identity\": "
              + (value.length == 0 ? "empty" : "format " + value[0])
              + " (expected: format "
              + FORMAT
              + ", a group and a member)");
    }
    ByteBuffer in = ByteBuffer.wrap(value, 1, value.length - 1);
    UUID group = new UUID(in.getLong(), in.getLong());
    byte[] member = Arrays.copyOfRange(value, IDENTITY_HEAD, value.length);
    return new StoreIdentity(group, new String(member, StandardCharsets.UTF_8));
  }

  static byte[] encode(AppliedEntry applied) {
    return ByteBuffer.allocate(24)
        .putLong(applied.term())
        .putLong(applied.index())
        .putLong(applied.stamp())
        .array();
  }

  static AppliedEntry decodeApplied(byte[] value) throws IOException {
    if (value.length != 24) {
      throw new IOException("row \"applied\": " + value.length + " bytes (expected: 24)");
    }
    ByteBuffer in = ByteBuffer.wrap(value);
    return new AppliedEntry(in.getLong(), in.getLong(), in.getLong());
  }
}
