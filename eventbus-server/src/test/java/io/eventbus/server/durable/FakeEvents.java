package io.eventbus.server.durable;

import io.eventbus.journal.AppendListener;
import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorStart;
import io.eventbus.journal.Journals;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.PublishHead;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.Settlement;
import io.eventbus.journal.TakenRun;
import io.eventbus.journal.codec.EventBlock;
import io.eventbus.protocol.EncodedHeaders;
import io.eventbus.protocol.Frames;
import io.eventbus.protocol.TopicFilter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Events for tests of journals. */
public final class FakeEvents {
  private FakeEvents() {}

  /**
   * Publishes events, which have to be taken at once.
   *
   * @param sequence number of the first
   */
  public static void publish(
      Journals journals, int journal, String topic, long sequence, String... payloads) {
    publishFor(journals, 0, journal, topic, sequence, payloads);
  }

  /**
   * Publishes events, all of which a consumer of a new shared cursor rejects.
   *
   * @param events how many, for which the journal has to be empty before
   */
  public static void reject(
      FakeJournals journals, int journal, String cursor, int events, String reason) {
    long epoch = join(journals, journal, cursor, events);
    for (int left = events; left > 0; ) {
      List<Settlement> rejected = new ArrayList<>();
      for (TakenRun run :
          result(
                  journals.takeEvents(journal, cursor, epoch, events + 1 - left, 1_024),
                  RecordResult.Taken.class)
              .runs()) {
        rejected.add(
            new Settlement(
                run.from(), run.to(), run.attempt(), Settlement.Outcome.REJECT, -1, reason));
        left -= run.events();
      }
      if (rejected.isEmpty()) {
        throw new AssertionError("nothing to take of " + left);
      }
      result(
          journals.settleEvents(journal, cursor, epoch, events + 1 - left, rejected),
          RecordResult.Settled.class);
    }
  }

  /**
   * Publishes five events. A consumer of a new shared cursor takes them, lets the first two come
   * again after one and two minutes, and keeps the others.
   */
  public static void retryTwo(FakeJournals journals, int journal, String cursor) {
    long epoch = join(journals, journal, cursor, 5);
    for (int left = 5; left > 0; ) {
      for (TakenRun run :
          result(journals.takeEvents(journal, cursor, epoch, 6 - left, 5), RecordResult.Taken.class)
              .runs()) {
        left -= run.events();
      }
    }
    List<Settlement> again = new ArrayList<>();
    for (int i = 1; i <= 2; i++) {
      again.add(new Settlement(i, i, 1, Settlement.Outcome.RETRY, i * 60_000L, "busy"));
    }
    result(journals.settleEvents(journal, cursor, epoch, 1, again), RecordResult.Settled.class);
  }

  /** Publishes events, and lets a consumer join a new shared cursor; returns its epoch. */
  private static long join(FakeJournals journals, int journal, String cursor, int events) {
    String[] payloads = new String[events];
    Arrays.fill(payloads, "x");
    publish(journals, journal, "orders.eu.x", 1, payloads);
    result(
        journals.createCursor(
            journal,
            cursor,
            TopicFilter.parse("orders.>"),
            CursorMode.SHARED,
            CursorStart.FIRST,
            0),
        RecordResult.CursorState.class);
    return result(journals.joinCursor(journal, cursor, "bus", 3), RecordResult.CursorState.class)
        .epoch();
  }

  private static <T extends RecordResult> T result(
      CompletionStage<RecordResult> stage, Class<T> expected) {
    return expected.cast(stage.toCompletableFuture().join());
  }

  /** Publishes events that expire after a time in milliseconds; 0 for never. */
  public static void publishFor(
      Journals journals,
      long ttlMillis,
      int journal,
      String topic,
      long sequence,
      String... payloads) {
    publish(journals, ttlMillis, null, journal, topic, sequence, payloads);
  }

  /** Publishes events with a key, which have to be taken at once. */
  public static void publishKeyed(
      Journals journals, String key, int journal, String topic, long sequence, String... payloads) {
    byte[] utf8 = key.getBytes(StandardCharsets.UTF_8);
    publish(journals, 0, utf8, journal, topic, sequence, payloads);
  }

  private static void publish(
      Journals journals,
      long ttlMillis,
      byte @Nullable [] key,
      int journal,
      String topic,
      long sequence,
      String... payloads) {
    int size = 0;
    int max = 0;
    for (String payload : payloads) {
      int bytes = payload.getBytes(StandardCharsets.UTF_8).length;
      int one =
          Frames.eventSize(1, key == null ? -1 : key.length, EncodedHeaders.NONE.size(), bytes);
      size += one;
      max = Math.max(max, one);
    }
    ByteBuffer all = ByteBuffer.allocate(size);
    for (String payload : payloads) {
      Frames.writeEvent(all, 1, key, EncodedHeaders.NONE, payload.getBytes(StandardCharsets.UTF_8));
    }
    EventBlock block = new EventBlock(all, 0, size, payloads.length, max);
    ByteBuffer events = ByteBuffer.allocate(block.size());
    block.write(events);
    PublishHead head =
        new PublishHead(
            journal,
            topic.getBytes(StandardCharsets.UTF_8),
            new byte[] {7},
            7,
            sequence,
            sequence,
            sequence - 1,
            0,
            0,
            1,
            ttlMillis,
            0);
    boolean taken =
        journals.append(
            head,
            events.flip(),
            new AppendListener() {
              @Override
              public void completed(RecordResult result) {
                if (!(result instanceof RecordResult.Published)) {
                  throw new AssertionError(result);
                }
              }

              @Override
              public void unavailable(JournalsUnavailableException cause) {
                throw cause;
              }
            });
    if (!taken) {
      throw new AssertionError("no room");
    }
  }
}
