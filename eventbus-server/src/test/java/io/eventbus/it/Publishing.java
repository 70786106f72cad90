package io.eventbus.it;

import io.eventbus.protocol.EncodedHeaders;
import io.eventbus.protocol.Frames;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Publishes a number of events in a thread of its own, each confirmed before the next. */
final class Publishing implements AutoCloseable {
  private static final int PAYLOAD = 8000;

  private final RawClient client;
  private final Thread thread;
  private volatile int confirmed;
  private volatile @Nullable Throwable failure;

  /**
   * Starts.
   *
   * @param keys number of keys that are used in turn, 0 for events without
   */
  Publishing(URI bus, String topic, int events, int keys) throws IOException {
    this(bus, topic, events, keys, PAYLOAD);
  }

  /**
   * Starts.
   *
   * @param keys number of keys that are used in turn, 0 for events without
   */
  Publishing(URI bus, String topic, int events, int keys, int payloadBytes) throws IOException {
    client = RawClient.connected(bus);
    thread = new Thread(() -> run(topic, events, keys, payloadBytes), "publishing " + topic);
    thread.start();
  }

  private void run(String topic, int events, int keys, int payloadBytes) {
    try {
      byte[] payload = new byte[payloadBytes];
      for (int i = 1; i <= events; i++) {
        client.send(
            keys == 0
                ? RawClient.publish(topic, i, true, payload)
                : keyed(topic, i, "key " + i % keys, payload));
        client.expectConfirm();
        confirmed = i;
      }
    } catch (IOException | RuntimeException | AssertionError e) {
      failure = e;
    }
  }

  private static byte[] keyed(String topic, int sequence, String key, byte[] payload) {
    byte[] name = topic.getBytes(StandardCharsets.UTF_8);
    byte[] keyBytes = key.getBytes(StandardCharsets.UTF_8);
    int size = Frames.eventSize(1, keyBytes.length, 1, payload.length);
    ByteBuffer event = ByteBuffer.allocate(size);
    Frames.writeEvent(event, 1, keyBytes, EncodedHeaders.NONE, payload);
    ByteBuffer frame = ByteBuffer.allocate(Frames.publishSize(name.length, sequence, 0, 1, size));
    Frames.writePublish(frame, name, sequence, 0, true, 1, event.flip());
    return frame.array();
  }

  int confirmed() {
    return confirmed;
  }

  /** Waits until all is confirmed. */
  void awaitEnd() throws InterruptedException {
    thread.join(3 * RawClient.DEADLINE_MILLIS);
    Throwable f = failure;
    if (f != null || thread.isAlive()) {
      throw new AssertionError("publishing stopped after " + confirmed, f);
    }
  }

  @Override
  public void close() throws IOException {
    client.close();
  }
}
