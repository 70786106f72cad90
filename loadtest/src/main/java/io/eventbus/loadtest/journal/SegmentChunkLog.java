package io.eventbus.loadtest.journal;

import io.eventbus.journal.chunk.ChunkFormatException;
import io.eventbus.journal.chunk.ChunkIndex;
import io.eventbus.journal.chunk.ChunkView;
import io.eventbus.journal.rows.RowScan;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.store.StoreBatch;
import io.eventbus.journal.store.StoreLease;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * Chunks appended to files, a row of files for each journal, and rows that say where each chunk
 * lies. What a store of our own would cost at least: nothing in it repairs a file after a crash.
 */
final class SegmentChunkLog implements ChunkLog {
  private final Path directory;
  private final RowChunkLog rows;
  private final Segments[] journals;
  private final long maxBytes;

  /** Files of a journal by the position of the first event in each. */
  private static final class Segments {
    final TreeMap<Long, FileChannel> files = new TreeMap<>();
    long size;
  }

  /**
   * Creates a log.
   *
   * @param maxBytes bytes after which a journal goes on in another file
   */
  SegmentChunkLog(Path directory, int journals, long maxBytes) throws IOException {
    this.directory = directory;
    this.maxBytes = maxBytes;
    rows = new RowChunkLog(directory, false, journals);
    this.journals = new Segments[journals];
    Arrays.setAll(this.journals, i -> new Segments());
  }

  @Override
  public void write(int journal, ByteBuffer chunk, ChunkIndex index) throws IOException {
    Segments segments = journals[journal];
    if (segments.files.isEmpty() || segments.size + chunk.remaining() > maxBytes) {
      begin(journal, segments, index.firstPosition());
    }
    Map.Entry<Long, FileChannel> file = segments.files.lastEntry();
    byte[] indexRow = index.encode();
    ByteBuffer place =
        ByteBuffer.allocate(20 + indexRow.length)
            .putLong(file.getKey())
            .putLong(segments.size)
            .putInt(chunk.remaining())
            .put(indexRow);
    segments.size += chunk.remaining();
    while (chunk.hasRemaining()) {
      file.getValue().write(chunk);
    }
    try (StoreBatch batch = rows.store().begin()) {
      rows.writeSmallRows(batch, journal, index, place.array());
      rows.commit(batch);
    }
  }

  private void begin(int journal, Segments segments, long position) throws IOException {
    if (!segments.files.isEmpty()) {
      segments.files.lastEntry().getValue().force(false);
    }
    segments.size = 0;
    segments.files.put(
        position,
        FileChannel.open(
            file(journal, position),
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE));
  }

  private Path file(int journal, long position) {
    return directory.resolve("journal-" + journal + "-" + position);
  }

  @Override
  public void trim(int journal, long position) throws IOException {
    rows.trim(journal, position);
    Segments segments = journals[journal];
    Long kept = segments.files.floorKey(position);
    for (var file : Map.copyOf(segments.files.headMap(kept == null ? position : kept)).entrySet()) {
      file.getValue().close();
      Files.delete(file(journal, file.getKey()));
      segments.files.remove(file.getKey());
    }
  }

  @Override
  public void flush() throws IOException, InterruptedException {
    for (Segments segments : journals) {
      if (!segments.files.isEmpty()) {
        segments.files.lastEntry().getValue().force(false);
      }
    }
    rows.flush();
  }

  @Override
  public long scan(int journal) throws IOException {
    ChunkView view = new ChunkView();
    long bytes = 0;
    try (StoreLease lease = rows.store().lease();
        RowScan scan =
            lease.scan(
                Keys.first(Keys.CHUNK_INDEX, journal), Keys.end(Keys.CHUNK_INDEX, journal))) {
      while (scan.next()) {
        ByteBuffer place = ByteBuffer.wrap(scan.value());
        FileChannel file = journals[journal].files.get(place.getLong());
        long offset = place.getLong();
        ByteBuffer chunk = ByteBuffer.allocate(place.getInt());
        while (file != null && chunk.hasRemaining()) {
          if (file.read(chunk, offset + chunk.position()) < 0) {
            throw new IOException("journal " + journal + ": a file ends (expected: a chunk)");
          }
        }
        view.read(chunk.flip(), journal, Keys.number(scan.key()));
        while (view.next()) {
          bytes += view.frameEnd() - view.frameStart();
        }
      }
    } catch (ChunkFormatException e) {
      throw new IOException(e.getMessage(), e);
    }
    return bytes;
  }

  @Override
  public long stalls() {
    return rows.stalls();
  }

  @Override
  public void close() throws IOException {
    for (Segments segments : journals) {
      for (FileChannel file : segments.files.values()) {
        file.close();
      }
    }
    rows.close();
  }
}
