package io.eventbus.server.durable;

import io.eventbus.journal.AppendListener;
import io.eventbus.journal.Journals;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.PublishHead;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.codec.EventBlock;
import io.eventbus.protocol.EncodedHeaders;
import io.eventbus.protocol.Frames;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

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

  /** Publishes events that expire after a time in milliseconds; 0 for never. */
  public static void publishFor(
      Journals journals,
      long ttlMillis,
      int journal,
      String topic,
      long sequence,
      String... payloads) {
    int size = 0;
    int max = 0;
    for (String payload : payloads) {
      int bytes = payload.getBytes(StandardCharsets.UTF_8).length;
      int one = Frames.eventSize(1, -1, EncodedHeaders.NONE.size(), bytes);
      size += one;
      max = Math.max(max, one);
    }
    ByteBuffer all = ByteBuffer.allocate(size);
    for (String payload : payloads) {
      Frames.writeEvent(
          all, 1, null, EncodedHeaders.NONE, payload.getBytes(StandardCharsets.UTF_8));
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
