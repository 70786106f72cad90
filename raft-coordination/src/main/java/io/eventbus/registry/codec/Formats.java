package io.eventbus.registry.codec;

import io.eventbus.registry.schema.RegistryProtocol;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Protocol;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificDatumReader;
import org.apache.avro.specific.SpecificDatumWriter;
import org.apache.avro.specific.SpecificRecord;

/**
 * Formats that this version reads, each with the schemas that its writer had.
 *
 * <p>Encoded is one byte with the format's number, then the record in Avro's binary encoding. Avro
 * translates from the writer's schema to today's. The schemas of each format are frozen in a file
 * beside this class, from which nothing is ever removed.
 *
 * <p>Encoded values name the first format that can express them, so that buses of an earlier
 * version go on in a cluster that is upgraded bus by bus, until something new is said. They are
 * written with the frozen schemas of that format, which leave out the later fields. Immutable; any
 * thread may use it.
 */
final class Formats {
  /** Format that every version reads. */
  static final int FIRST = 1;

  /** Newest format that this version reads and writes. */
  static final int CURRENT = 3;

  private static final RegistryModel MODEL = new RegistryModel();

  private static final Formats SHIPPED = shipped();

  private final Map<Integer, Protocol> protocols;

  Formats(Map<Integer, Protocol> protocols) {
    this.protocols = Map.copyOf(protocols);
  }

  static Formats get() {
    return SHIPPED;
  }

  static Protocol load(int format) throws IOException {
    String name = "format-" + format + ".avpr";
    try (InputStream in = Formats.class.getResourceAsStream(name)) {
      return Protocol.parse(Objects.requireNonNull(in, name));
    }
  }

  /**
   * Encodes a record. The caller has to know that the fields which that format does not have, all
   * of them the last ones, have their defaults.
   */
  byte[] encode(int format, SpecificRecord record) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(256);
    out.write(format);
    BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(out, null);
    try {
      new SpecificDatumWriter<SpecificRecord>(schema(format, record), MODEL).write(record, encoder);
    } catch (IOException e) {
      throw new UncheckedIOException("memory does not fail", e);
    }
    return out.toByteArray();
  }

  private Schema schema(int format, SpecificRecord record) {
    Protocol protocol = protocols.get(format);
    Schema schema = protocol == null ? null : protocol.getType(record.getSchema().getFullName());
    if (schema == null) {
      throw new IllegalArgumentException(
          "format: " + format + " (expected: one with " + record.getSchema().getName() + ")");
    }
    return schema;
  }

  /** Decodes a record; all bytes must be used. */
  <T extends SpecificRecord> T decode(ByteBuffer bytes, Schema wanted, Class<T> kind)
      throws RegistryFormatException {
    ByteBuffer in = bytes.slice();
    if (!in.hasRemaining()) {
      throw new RegistryFormatException("bytes: 0 (expected: >= 1)");
    }
    int format = in.get() & 0xFF;
    Protocol protocol = protocols.get(format);
    if (protocol == null) {
      throw new RegistryFormatException(
          "format: " + format + " (expected: one of " + new TreeMap<>(protocols).keySet() + ")");
    }
    Schema written = protocol.getType(wanted.getFullName());
    if (written == null) {
      throw new RegistryFormatException(
          wanted.getName() + " (expected: a record of format " + format + ")");
    }
    T record;
    try {
      record =
          kind.cast(
              new SpecificDatumReader<SpecificRecord>(written, wanted, MODEL)
                  .read(null, new BoundedDecoder(in)));
    } catch (IOException | AvroRuntimeException | IndexOutOfBoundsException e) {
      throw new RegistryFormatException(wanted.getName() + ": " + e.getMessage(), e);
    }
    if (in.hasRemaining()) {
      throw new RegistryFormatException(
          wanted.getName() + ": " + in.remaining() + " bytes too many (expected: 0)");
    }
    return record;
  }

  private static Formats shipped() {
    try {
      return new Formats(Map.of(FIRST, load(FIRST), 2, load(2), CURRENT, load(CURRENT)));
    } catch (IOException e) {
      throw new UncheckedIOException("the class path is damaged", e);
    }
  }

  /** Returns the compiled schemas, to compare them with the frozen file. */
  static Protocol compiled() {
    return RegistryProtocol.PROTOCOL;
  }
}
