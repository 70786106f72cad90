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

  /** Publishes an event, which has to be taken at once. */
  public static void publish(
      Journals journals, int journal, String topic, long sequence, String payload) {
    byte[] bytes = payload.getBytes(StandardCharsets.UTF_8);
    int size = Frames.eventSize(1, -1, EncodedHeaders.NONE.size(), bytes.length);
    ByteBuffer event = ByteBuffer.allocate(size);
    Frames.writeEvent(event, 1, null, EncodedHeaders.NONE, bytes);
    EventBlock block = new EventBlock(event, 0, size, 1, size);
    ByteBuffer events = ByteBuffer.allocate(block.size());
    block.write(events);
    PublishHead head =
        new PublishHead(
            journal,
            topic.getBytes(StandardCharsets.UTF_8),
            new byte[] {7},
            7,
            sequence,
            sequence - 1,
            0,
            0,
            1,
            0,
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
