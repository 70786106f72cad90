package io.eventbus.loadtest.journal;

import io.eventbus.journal.AppendListener;
import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.PublishHead;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.JournalCreated;
import io.eventbus.journal.RecordResult.Published;
import io.eventbus.journal.Retention;
import io.eventbus.journal.ratis.ShardJournals;
import io.eventbus.journal.ratis.ShardOptions;
import io.eventbus.journal.store.StoreResources;
import io.eventbus.protocol.EncodedHeaders;
import io.eventbus.protocol.Frames;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.Varint;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Run: one thread publishes to the journals of a shard, which has one voter, until the time is
 * over. An event counts when it is on the disk and applied.
 */
public final class JournalShardRun {
  private static final long ANSWER_SECONDS = 60;

  private final JournalShardPlan plan;
  private final ByteBuffer events;
  private final Semaphore window;
  private final long[] sequences;
  // Written on the thread that applies entries.
  private final Histogram nanos = new Histogram(TimeUnit.MINUTES.toNanos(10), 3);
  private volatile boolean measuring;
  private volatile @Nullable String failure;
  private volatile long confirmed;
  private long full;

  private JournalShardRun(JournalShardPlan plan) {
    this.plan = plan;
    window = new Semaphore(plan.window());
    sequences = new long[plan.journals()];
    byte[] payload = new byte[plan.payloadBytes()];
    int size = plan.frameEvents() * Frames.eventSize(7, -1, 1, payload.length);
    events = ByteBuffer.allocate(size + 2 * Varint.MAX_BYTES + 1);
    Varint.write(events, -(long) plan.frameEvents());
    Varint.write(events, size);
    Random random = new Random(1);
    for (int i = 0; i < plan.frameEvents(); i++) {
      random.nextBytes(payload);
      Frames.writeEvent(events, 7, null, EncodedHeaders.NONE, payload);
    }
    events.put((byte) 0).flip();
  }

  /**
   * Runs, and leaves the files where they are.
   *
   * @throws IOException if something cannot be written, or is not confirmed
   */
  public static JournalShardResult run(JournalShardPlan plan)
      throws IOException, InterruptedException {
    Files.createDirectories(plan.directory());
    try (StoreResources resources = StoreResources.open(plan.directory().resolve("lib"));
        ShardJournals journals =
            ShardJournals.open(
                new ShardOptions(
                    plan.directory(),
                    new UUID(0, 1),
                    1,
                    "measured~1",
                    resources,
                    ShardOptions.Tuning.DEFAULT))) {
      return new JournalShardRun(plan).measure(journals);
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException(e);
    }
  }

  private JournalShardResult measure(ShardJournals journals)
      throws IOException, InterruptedException, ExecutionException, TimeoutException {
    int[] numbers = new int[plan.journals()];
    for (int i = 0; i < numbers.length; i++) {
      JournalDefinition definition =
          new JournalDefinition(
              "measured-" + i,
              List.of(TopicFilter.parse(">")),
              KeepPolicy.ALL,
              new Retention(0, plan.retainBytes(), 0),
              FullPolicy.DROP_OLD);
      RecordResult created =
          journals.create(definition).toCompletableFuture().get(ANSWER_SECONDS, TimeUnit.SECONDS);
      if (!(created instanceof JournalCreated journal)) {
        throw new IOException("journal " + i + ": " + created + " (expected: created)");
      }
      numbers[i] = journal.journal();
    }
    publish(journals, numbers, plan.time().dividedBy(10));
    measuring = true;
    long confirmedBefore = confirmed;
    long filesBefore = ProcessUsage.writtenBytes();
    Duration cpuBefore = ProcessUsage.cpu();
    long[] collectorBefore = collector();
    long begun = System.nanoTime();
    publish(journals, numbers, plan.time());
    double seconds = (System.nanoTime() - begun) / 1e9;
    long[] collectorAfter = collector();
    long done = confirmed - confirmedBefore;
    return new JournalShardResult(
        done,
        done * plan.payloadBytes(),
        seconds,
        ProcessUsage.cpu().minus(cpuBefore).toNanos() / 1e9,
        filesBefore < 0 ? -1 : ProcessUsage.writtenBytes() - filesBefore,
        collectorAfter[0] - collectorBefore[0],
        collectorAfter[1] - collectorBefore[1],
        nanos.getValueAtPercentile(50) / 1e6,
        nanos.getValueAtPercentile(99) / 1e6,
        nanos.getMaxValue() / 1e6,
        full);
  }

  /** Publishes for a time, and waits until everything is confirmed. */
  private void publish(ShardJournals journals, int[] numbers, Duration time)
      throws IOException, InterruptedException {
    byte[] topic = "measured.topic".getBytes(StandardCharsets.UTF_8);
    byte[] producer = {1};
    int frame = plan.frameEvents();
    long begun = System.nanoTime();
    long now = begun;
    for (long sent = 0; now - begun < time.toNanos(); sent++) {
      long due = begun + (plan.rate() == 0 ? 0 : (long) (sent * frame * 1e9 / plan.rate()));
      while (due - System.nanoTime() > 0) {
        LockSupport.parkNanos(due - System.nanoTime());
      }
      acquire(frame);
      int journal = (int) (sent % numbers.length);
      long first = sequences[journal] + 1;
      PublishHead head =
          new PublishHead(
              numbers[journal], topic, producer, 1, first, first, first - 1, 0, 0, first, 0, 0);
      now = System.nanoTime();
      // A publication that had to wait for the window is late from the time on when it was due.
      AppendListener answer = new Answer(plan.rate() == 0 ? now : due);
      while (!journals.append(head, events, answer)) {
        full++;
        CountDownLatch room = new CountDownLatch(1);
        journals.whenRoom(room::countDown);
        await(room.await(ANSWER_SECONDS, TimeUnit.SECONDS));
      }
      sequences[journal] += frame;
    }
    acquire(plan.window());
    window.release(plan.window());
  }

  private void acquire(int permits) throws IOException, InterruptedException {
    await(window.tryAcquire(permits, ANSWER_SECONDS, TimeUnit.SECONDS));
  }

  private void await(boolean inTime) throws IOException {
    String problem = failure;
    if (problem != null || !inTime) {
      throw new IOException(problem != null ? problem : "no answer in " + ANSWER_SECONDS + " s");
    }
  }

  /** Publication that is under way. */
  private final class Answer implements AppendListener {
    private final long sent;

    Answer(long sent) {
      this.sent = sent;
    }

    // Only the thread that applies entries comes here.
    @SuppressWarnings("NonAtomicVolatileUpdate")
    @Override
    public void completed(RecordResult result) {
      if (!(result instanceof Published)) {
        failure = result.toString();
      }
      if (measuring) {
        nanos.recordValue(System.nanoTime() - sent);
      }
      confirmed += plan.frameEvents();
      window.release(plan.frameEvents());
    }

    @Override
    public void unavailable(JournalsUnavailableException cause) {
      failure = cause.toString();
      window.release(plan.frameEvents());
    }
  }

  /** Returns the number of collections, and their time in milliseconds. */
  private static long[] collector() {
    long[] figures = new long[2];
    for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
      figures[0] += bean.getCollectionCount();
      figures[1] += bean.getCollectionTime();
    }
    return figures;
  }
}
