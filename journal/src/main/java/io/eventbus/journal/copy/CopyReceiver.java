package io.eventbus.journal.copy;

import io.eventbus.journal.chunk.ChunkFormatException;
import io.eventbus.journal.copy.CopyRequest.Kind;
import io.eventbus.journal.store.AppliedEntry;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreLoader;
import io.eventbus.link.LinkServiceException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receiver of a copy, into an empty store. A store that has got a part of a copy has applied
 * nothing, and is of no use: the next copy begins with an empty one. For one thread, which waits.
 */
public final class CopyReceiver {
  private static final Logger LOG = LoggerFactory.getLogger(CopyReceiver.class);

  private static final Duration FLUSH_TIMEOUT = Duration.ofMinutes(5);

  /** Interval of looks at whether the copy is to end while its rows are brought to the disk. */
  private static final Duration FLUSH_STEP = Duration.ofSeconds(1);

  /** Number of attempts to get a slice: a link may end and be opened again. */
  private static final int ATTEMPTS = 3;

  /** Replica that is asked. */
  public interface Source {
    /** Returns the id of the member. */
    String id();

    /**
     * Asks, and waits for the answer for a limited time.
     *
     * @throws IOException if there is none
     * @throws LinkServiceException if the source refuses
     */
    byte[] ask(CopyRequest request) throws IOException, InterruptedException;
  }

  /** Observer of a copy. */
  public interface Progress {
    /**
     * Called between two slices, and every second while the rows are brought to the disk.
     *
     * @param bytes bytes of the rows that are here
     * @param expected about how many there will be
     * @throws IOException to end the copy
     */
    void copied(long bytes, long expected) throws IOException, InterruptedException;
  }

  /**
   * Result.
   *
   * @param applied the last entry whose rows are in the store, and on its disk
   * @param configuration the members at that entry, in the form in which Raft stores them
   */
  public record Copied(AppliedEntry applied, ByteBuffer configuration, long rows, long bytes) {}

  private final UUID group;
  private final String self;
  private final Source source;
  private final Progress progress;
  private final CopiedRow check = new CopiedRow();
  private byte[] lastKey = new byte[0];
  private long rows;
  private long bytes;

  /**
   * Creates a receiver of one copy.
   *
   * @param self the member that gets it
   */
  public CopyReceiver(UUID group, String self, Source source, Progress progress) {
    this.group = group;
    this.self = self;
    this.source = source;
    this.progress = progress;
  }

  /**
   * Copies the rows of the source.
   *
   * @param least the least entry that the copy has to have
   * @throws IOException if the source does not answer, the progress says so, or the rows are not on
   *     the disk in time
   * @throws LinkServiceException if the source refuses, or what it sends is damaged
   * @throws io.eventbus.journal.rows.StoreFailedException if the store fails
   */
  public Copied copy(ShardStore into, long least) throws IOException, InterruptedException {
    CopyHead head = open(least);
    try (StoreLoader loader = into.loader()) {
      boolean more = true;
      for (int number = 0; more; number++) {
        progress.copied(bytes, head.bytes());
        Slice.Reader slice = new Slice.Reader(next(head.number(), number), head.number(), number);
        load(slice, loader);
        more = !slice.isLast();
      }
      close(head.number());
      progress.copied(bytes, bytes);
      loader.finish(head.applied());
      flush(into);
    }
    return new Copied(head.applied(), head.configuration(), rows, bytes);
  }

  private void flush(ShardStore into) throws IOException, InterruptedException {
    long begun = System.nanoTime();
    while (!into.flush(FLUSH_STEP)) {
      progress.copied(bytes, bytes);
      if (System.nanoTime() - begun > FLUSH_TIMEOUT.toNanos()) {
        throw new IOException("the rows are not on the disk after " + FLUSH_TIMEOUT);
      }
    }
  }

  /**
   * Begins a copy, and ends it at once.
   *
   * @param least the least entry that the copy has to have
   * @throws IOException if the source does not answer
   * @throws LinkServiceException if the source refuses
   */
  public void probe(long least) throws IOException, InterruptedException {
    close(open(least).number());
  }

  private CopyHead open(long least) throws IOException, InterruptedException {
    CopyHead head = CopyHead.decode(source.ask(request(Kind.OPEN, least, 0)));
    if (head.applied().index() < least) {
      throw malformed("entry " + head.applied().index() + " (expected: at least " + least + ")");
    }
    return head;
  }

  private CopyRequest request(Kind kind, long number, int slice) {
    return new CopyRequest(kind, group, self, number, slice);
  }

  private byte[] next(long copy, int number) throws IOException, InterruptedException {
    for (int attempt = 1; ; attempt++) {
      try {
        return source.ask(request(Kind.NEXT, copy, number));
      } catch (IOException e) {
        if (attempt == ATTEMPTS) {
          throw e;
        }
        LOG.info("slice {} of the copy is asked for again: {}", number, e.toString());
        progress.copied(bytes, bytes);
      }
    }
  }

  private void load(Slice.Reader slice, StoreLoader loader) {
    while (slice.next()) {
      byte[] key = slice.key();
      byte[] value = slice.value();
      if (Arrays.compareUnsigned(key, lastKey) <= 0) {
        throw malformed("row: not behind the one before (expected: ascending keys)");
      }
      try {
        check.check(key, value);
        loader.put(key, value);
      } catch (ChunkFormatException | IllegalArgumentException e) {
        throw malformed(String.valueOf(e.getMessage()));
      }
      lastKey = key;
      rows++;
      bytes += key.length + value.length;
    }
    if (rows != slice.rows()) {
      throw malformed("rows: " + rows + " (expected: " + slice.rows() + ", as were sent)");
    }
    loader.write();
  }

  private LinkServiceException malformed(String problem) {
    return new LinkServiceException(
        LinkServiceException.MALFORMED, "copy of " + source.id() + ": " + problem);
  }

  /** Ends the copy at its source, which would otherwise keep what was deleted for a while. */
  private void close(long copy) throws InterruptedException {
    try {
      byte[] unused = source.ask(request(Kind.CLOSE, copy, 0));
    } catch (IOException | LinkServiceException e) {
      LOG.debug("{} was not told of the end of its copy", source.id(), e);
    }
  }
}
