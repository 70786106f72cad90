package io.eventbus.cli.client;

import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.client.Event;
import io.eventbus.client.ReceivedEvent;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.jspecify.annotations.Nullable;

/**
 * File with the events of a journal: an Avro object container file, so that other tools read it,
 * too. Its metadata name the journal and the backup. Each event has a checksum, and the last
 * record, without a topic, says that nothing is missing.
 */
final class StoredEventFile {
  private static final String JOURNAL = "eventbus.journal";
  private static final String BACKUP = "eventbus.backup";
  private static final int DEFLATE_LEVEL = 6;

  private static final Schema SCHEMA =
      new Schema.Parser()
          .parse(
              """
              {"type": "record", "name": "StoredEvent", "namespace": "io.eventbus.backup", "fields": [
                {"name": "position", "type": "long"},
                {"name": "topic", "type": "string"},
                {"name": "publishedAt", "type": {"type": "long", "logicalType": "timestamp-micros"}},
                {"name": "receivedAt", "type": {"type": "long", "logicalType": "timestamp-micros"}},
                {"name": "schema", "type": "long"},
                {"name": "key", "type": ["null", "string"]},
                {"name": "headers", "type": {"type": "map", "values": "string"}},
                {"name": "payload", "type": "bytes"},
                {"name": "crc32c", "type": "int", "doc": "of this record, written with 0 here"}]}
              """);

  private StoredEventFile() {}

  private static GenericRecord record(long position, String topic) {
    GenericRecord item = new GenericData.Record(SCHEMA);
    item.put("position", position);
    item.put("topic", topic);
    item.put("publishedAt", 0L);
    item.put("receivedAt", 0L);
    item.put("schema", 0L);
    item.put("headers", Map.of());
    item.put("payload", ByteBuffer.allocate(0));
    return item;
  }

  /** Returns the checksum of a record whose headers are sorted. */
  private static int checksum(GenericRecord item) throws IOException {
    item.put("crc32c", 0);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
    new GenericDatumWriter<GenericRecord>(SCHEMA).write(item, encoder);
    CRC32C crc = new CRC32C();
    crc.update(bytes.toByteArray());
    return (int) crc.getValue();
  }

  /** Writer of a new file. For one thread at a time. */
  static final class Writer implements Closeable {
    private final DataFileWriter<GenericRecord> out;
    private final Path file;

    /**
     * Creates a file.
     *
     * @param backup text that no other backup has
     */
    Writer(Path file, String journal, String backup) throws IOException {
      this.file = file;
      out = new DataFileWriter<>(new GenericDatumWriter<>(SCHEMA));
      out.setCodec(CodecFactory.deflateCodec(DEFLATE_LEVEL));
      out.setMeta(JOURNAL, journal);
      out.setMeta(BACKUP, backup);
      out.create(SCHEMA, file.toFile());
    }

    void write(ReceivedEvent event) throws IOException {
      GenericRecord item = record(event.position(), event.topic());
      item.put("publishedAt", event.publishedAtMicros());
      item.put("receivedAt", event.receivedAtMicros());
      item.put("schema", event.schema());
      item.put("key", event.key());
      item.put("headers", new TreeMap<>(event.headers()));
      item.put("payload", event.payloadBuffer());
      append(item);
    }

    private void append(GenericRecord item) throws IOException {
      item.put("crc32c", checksum(item));
      out.append(item);
    }

    /**
     * Closes the file when everything is on the disk.
     *
     * @param end the last position that it covers
     */
    void finish(long end) throws IOException {
      append(record(end, ""));
      out.close();
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        channel.force(true);
      }
    }

    @Override
    public void close() throws IOException {
      out.close();
    }
  }

  /** Event of a file. */
  record Item(String topic, Event event) {}

  /** Reader of a file. For one thread. */
  static final class Reader implements Closeable {
    private final DataFileReader<GenericRecord> in;
    private final Path file;
    private final String journal;
    private final String backup;

    /**
     * Opens a file.
     *
     * @throws CliFailure if it is none of these files
     */
    Reader(Path file) {
      this.file = file;
      try {
        in = new DataFileReader<>(file.toFile(), new GenericDatumReader<>(null, SCHEMA));
      } catch (IOException | AvroRuntimeException e) {
        throw damaged(e);
      }
      journal = metadata(JOURNAL);
      backup = metadata(BACKUP);
    }

    private String metadata(String name) {
      String text = in.getMetaString(name);
      if (text == null) {
        throw damaged(null);
      }
      return text;
    }

    private CliFailure damaged(@Nullable Exception cause) {
      return new CliFailure(
          ExitCode.USAGE,
          "FILE: "
              + file
              + (cause == null ? "" : ": " + cause.getMessage())
              + " (expected: a file that `journal backup` has written)",
          cause);
    }

    /** Returns the name of the journal. */
    String journal() {
      return journal;
    }

    /** Returns a text that no other backup has. */
    String backup() {
      return backup;
    }

    /**
     * Returns the next event; null at the end.
     *
     * @throws CliFailure if it cannot be read
     */
    @Nullable Item next() {
      try {
        Item item = item(in.next());
        return item.topic().isEmpty() ? null : item;
      } catch (IOException | AvroRuntimeException | NoSuchElementException e) {
        throw damaged(e);
      }
    }

    private static Item item(GenericRecord item) throws IOException {
      Object key = item.get("key");
      Map<String, String> headers = new TreeMap<>();
      ((Map<?, ?>) item.get("headers"))
          .forEach((name, value) -> headers.put(name.toString(), value.toString()));
      item.put("headers", headers);
      int stated = (int) item.get("crc32c");
      if (checksum(item) != stated) {
        throw new IOException("wrong checksum of the event at position " + item.get("position"));
      }
      ByteBuffer payload = (ByteBuffer) item.get("payload");
      byte[] bytes = new byte[payload.remaining()];
      payload.get(bytes);
      return new Item(
          item.get("topic").toString(),
          Event.builder(bytes)
              .key(key == null ? null : key.toString())
              .headers(headers)
              .publishedAtMicros((long) item.get("publishedAt"))
              .schema((long) item.get("schema"))
              .build());
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
