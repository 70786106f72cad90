package io.eventbus.registry.codec;

import io.eventbus.registry.BusInfo;
import io.eventbus.registry.Revocation;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.TopicConfig;
import io.eventbus.registry.schema.SnapshotEndData;
import io.eventbus.registry.schema.SnapshotEntryData;
import io.eventbus.registry.schema.SnapshotHeadData;
import io.eventbus.registry.schema.SnapshotMemoryData;
import io.eventbus.registry.state.RegistryImage;
import io.eventbus.registry.state.RegistryImage.Remembered;
import io.eventbus.registry.state.RegistryState;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;
import java.util.zip.CheckedOutputStream;

/**
 * Format of a whole registry as a stream of bytes.
 *
 * <p>The stream is {@code EBREGSN1}, then entries, then a checksum. An entry is its length (4
 * bytes, big-endian) and a record with the number of its format; the first is the head, the last
 * says how many came before it. The checksum is CRC-32C over everything before it (8 bytes,
 * big-endian). It guards against damage, not against forgery. Any thread may call any method.
 */
public final class SnapshotFormat {
  private static final byte[] MAGIC = "EBREGSN1".getBytes(StandardCharsets.US_ASCII);

  /**
   * Maximum size of an entry, above the largest legal one: a topic with 32 settings of 1,024 bytes,
   * or a result.
   */
  private static final int MAX_ENTRY = 8 << 20;

  private SnapshotFormat() {}

  /**
   * Writes a registry.
   *
   * @param out the destination; it is flushed, not closed
   * @throws IOException if writing fails
   */
  public static void write(RegistryState state, OutputStream out) throws IOException {
    CheckedOutputStream sum = new CheckedOutputStream(out, new CRC32C());
    DataOutputStream data = new DataOutputStream(sum);
    RegistryImage image = state.image();
    data.write(MAGIC);
    long entries = 1;
    put(data, 1, head(image));
    for (BusInfo bus : image.buses()) {
      put(data, Values.format(bus.description()), Values.data(bus));
      entries++;
    }
    for (TopicConfig topic : image.topics()) {
      put(data, 1, Values.data(topic));
      entries++;
    }
    for (Revocation revocation : image.revocations()) {
      put(data, 2, Values.data(revocation));
      entries++;
    }
    for (ShardInfo shard : image.shards()) {
      put(data, 3, Values.data(shard));
      entries++;
    }
    for (Remembered remembered : image.young()) {
      put(data, Results.format(remembered.result()), memory(true, remembered));
      entries++;
    }
    for (Remembered remembered : image.old()) {
      put(data, Results.format(remembered.result()), memory(false, remembered));
      entries++;
    }
    put(data, 1, new SnapshotEndData(entries));
    data.writeLong(sum.getChecksum().getValue());
    data.flush();
  }

  /**
   * Reads a registry.
   *
   * @param in the source, to its end; it is not closed
   * @throws RegistryFormatException if the bytes are no registry, or damaged
   * @throws IOException if reading fails
   */
  public static RegistryState read(InputStream in) throws IOException {
    CheckedInputStream sum = new CheckedInputStream(in, new CRC32C());
    DataInputStream data = new DataInputStream(sum);
    try {
      byte[] magic = data.readNBytes(MAGIC.length);
      if (!Arrays.equals(magic, MAGIC)) {
        throw new RegistryFormatException("the first bytes are not those of a snapshot");
      }
      ImageBuilder image = new ImageBuilder();
      while (!image.isComplete()) {
        image.add(next(data));
      }
      long computed = sum.getChecksum().getValue();
      long written = data.readLong();
      if (written != computed) {
        throw new RegistryFormatException(
            "checksum: " + written + " (expected: " + computed + "): the snapshot is damaged");
      }
      if (data.read() >= 0) {
        throw new RegistryFormatException("there are bytes behind the snapshot's end");
      }
      return RegistryCodec.checked(() -> RegistryState.restore(image.build()));
    } catch (EOFException e) {
      throw new RegistryFormatException("the snapshot ends too early", e);
    }
  }

  private static Object next(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length < 1 || length > MAX_ENTRY) {
      throw new RegistryFormatException(
          "length of an entry: " + length + " (expected: 1 to " + MAX_ENTRY + ")");
    }
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new EOFException();
    }
    return Formats.get()
        .decode(ByteBuffer.wrap(bytes), SnapshotEntryData.getClassSchema(), SnapshotEntryData.class)
        .getEntry();
  }

  private static void put(DataOutputStream out, int format, Object entry) throws IOException {
    byte[] bytes = Formats.get().encode(format, new SnapshotEntryData(entry));
    if (bytes.length > MAX_ENTRY) {
      throw new IOException("entry: " + bytes.length + " bytes (expected: <= " + MAX_ENTRY + ")");
    }
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  private static SnapshotHeadData head(RegistryImage image) {
    return new SnapshotHeadData(
        image.version(),
        image.timeMillis(),
        image.nextNumber(),
        image.limits().maxBuses(),
        image.limits().maxTopics(),
        image.limits().rememberedCommands(),
        image.forgottenUpTo(),
        image.oldUpTo());
  }

  private static SnapshotMemoryData memory(boolean young, Remembered remembered) {
    return new SnapshotMemoryData(
        young,
        remembered.id().basis(),
        remembered.id().high(),
        remembered.id().low(),
        Results.data(remembered.result()));
  }
}
