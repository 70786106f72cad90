package io.eventbus.client.internal.outbound;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * State of a topic that a client publishes to: its encoded name, the next sequence number, and the
 * frames whose confirmation is outstanding. All but the name is guarded by the {@link Outbox}'s
 * lock.
 */
public final class TopicState {
  final String name;
  final byte[] bytes;
  final Deque<PublishFrame> unconfirmed = new ArrayDeque<>(2);
  // 0 before the first event.
  long nextSequence;
  // The number of the last message that has an event of it.
  long lastBatch;
  // Set on use, cleared when PublishedTopics looks for what to forget.
  boolean touched;
  // Another object is made for the next event.
  boolean forgotten;

  TopicState(String name) {
    this.name = name;
    this.bytes = name.getBytes(StandardCharsets.UTF_8);
  }
}
