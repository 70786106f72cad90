package io.eventbus.loadtest.journal;

import io.eventbus.journal.chunk.ChunkWriter;
import io.eventbus.journal.chunk.FrameHead;
import io.eventbus.protocol.EncodedHeaders;
import io.eventbus.protocol.Frames;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;

/** Run: one thread writes chunks to journals in turn, trims them, and reads what is left. */
public final class JournalStoreRun {
  private static final byte[] TOPIC = "measured.topic".getBytes(StandardCharsets.UTF_8);

  /** Bytes of a chunk that are no events, with room to spare. */
  private static final int CHUNK_HEAD_BYTES = 200;

  private final JournalStorePlan plan;
  private final ByteBuffer events;
  private final int eventCount;
  private final long[] next;
  private final List<Queue<Long>> kept = new ArrayList<>();
  private final int chunksKept;
  private final Histogram nanos = new Histogram(TimeUnit.MINUTES.toNanos(10), 3);
  private int journal;
  private long maxSpace;

  private JournalStoreRun(JournalStorePlan plan) {
    this.plan = plan;
    byte[] payload = new byte[plan.payloadBytes()];
    int bytes = Frames.eventSize(7, -1, 1, payload.length);
    eventCount = (ChunkWriter.MAX_BYTES - CHUNK_HEAD_BYTES) / bytes;
    events = ByteBuffer.allocateDirect(eventCount * bytes);
    Random random = new Random(1);
    for (int i = 0; i < eventCount; i++) {
      random.nextBytes(payload);
      Frames.writeEvent(events, 7, null, EncodedHeaders.NONE, payload);
    }
    events.flip();
    next = new long[plan.journals()];
    for (int i = 0; i < plan.journals(); i++) {
      kept.add(new ArrayDeque<>());
    }
    long chunkBytes = (long) eventCount * plan.payloadBytes();
    chunksKept = (int) Math.max(1, plan.retainBytes() / chunkBytes / plan.journals());
  }

  /**
   * Runs, and leaves the files where they are.
   *
   * @throws IOException if something cannot be written, or is not read as it was written
   */
  public static JournalStoreResult run(JournalStorePlan plan)
      throws IOException, InterruptedException {
    Files.createDirectories(plan.directory());
    JournalStoreRun run = new JournalStoreRun(plan);
    try (ChunkLog log = run.open()) {
      return run.measure(log);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private ChunkLog open() throws IOException {
    return switch (plan.mode()) {
      case BLOB -> new RowChunkLog(plan.directory(), true, plan.journals());
      case PLAIN -> new RowChunkLog(plan.directory(), false, plan.journals());
      case SEGMENTS -> {
        long quarter = plan.retainBytes() / plan.journals() / 4;
        long segment = Math.max(1 << 20, Math.min(64 << 20, quarter));
        yield new SegmentChunkLog(plan.directory(), plan.journals(), segment);
      }
    };
  }

  private JournalStoreResult measure(ChunkLog log) throws IOException, InterruptedException {
    long chunkBytes = (long) eventCount * plan.payloadBytes();
    long chunks = Math.max(1, plan.totalBytes() / chunkBytes);
    long writtenBefore = ProcessUsage.writtenBytes();
    Duration cpuBefore = ProcessUsage.cpu();
    long begun = System.nanoTime();
    write(log, chunks);
    log.flush();
    double writeSeconds = (System.nanoTime() - begun) / 1e9;
    Duration cpuBetween = ProcessUsage.cpu();
    long written = writtenBefore < 0 ? -1 : ProcessUsage.writtenBytes() - writtenBefore;
    long space = space();
    long scanBegun = System.nanoTime();
    long scanned = 0;
    for (int i = 0; i < plan.journals(); i++) {
      scanned += log.scan(i);
    }
    double scanSeconds = (System.nanoTime() - scanBegun) / 1e9;
    return new JournalStoreResult(
        chunks * eventCount,
        chunks * chunkBytes,
        writeSeconds,
        seconds(cpuBetween.minus(cpuBefore)) / writeSeconds,
        written,
        space,
        Math.max(space, maxSpace),
        nanos.getValueAtPercentile(50) / 1e6,
        nanos.getValueAtPercentile(99) / 1e6,
        nanos.getMaxValue() / 1e6,
        log.stalls(),
        scanned,
        scanSeconds,
        seconds(ProcessUsage.cpu().minus(cpuBetween)) / scanSeconds);
  }

  private void write(ChunkLog log, long chunks) throws IOException {
    ChunkWriter writer =
        new ChunkWriter(
            (chunk, index) -> {
              try {
                log.write(journal, chunk, index);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    // Journals are trimmed together, a tenth of what is kept at a time.
    long round = Math.max(1, (long) chunksKept * plan.journals() / 10);
    for (long i = 0; i < chunks; i++) {
      journal = (int) (i % plan.journals());
      long position = next[journal] + 1;
      kept.get(journal).add(position);
      FrameHead head = new FrameHead(1, TOPIC, position, 0, i, 1, position, 0);
      long begun = System.nanoTime();
      writer.begin(journal, position, i);
      writer.append(head, eventCount, events, 0, events.limit());
      writer.end();
      nanos.recordValue(System.nanoTime() - begun);
      next[journal] += eventCount;
      if (i % round == round - 1) {
        trim(log);
        maxSpace = Math.max(maxSpace, space());
      }
    }
  }

  private void trim(ChunkLog log) throws IOException {
    for (int i = 0; i < plan.journals(); i++) {
      Queue<Long> positions = kept.get(i);
      if (positions.size() > chunksKept) {
        while (positions.size() > chunksKept) {
          positions.remove();
        }
        log.trim(i, positions.element());
      }
    }
  }

  private long space() throws IOException {
    long bytes = 0;
    Path library = RowChunkLog.library(plan.directory());
    try (Stream<Path> files = Files.walk(plan.directory())) {
      for (Path file : (Iterable<Path>) files::iterator) {
        bytes += file.startsWith(library) ? 0 : size(file);
      }
    } catch (UncheckedIOException e) {
      // A directory or file went while it was listed; the next look finds the rest.
      return bytes;
    }
    return bytes;
  }

  private static long size(Path file) throws IOException {
    try {
      return Files.isRegularFile(file) ? Files.size(file) : 0;
    } catch (NoSuchFileException e) {
      return 0;
    }
  }

  private static double seconds(Duration time) {
    return time.toNanos() / 1e9;
  }
}
