package io.eventbus.client.internal;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What a publisher knows about a topic: its encoded name, the next sequence number, and the frames
 * whose confirmation is outstanding. All but the name is guarded by the {@link Outbox}'s lock.
 *
 * <p>Never forgotten while the client lives: a topic whose sequence started again at 1 would look
 * to subscribers like one with nothing but duplicates.
 */
final class TopicState {
  final String name;
  final byte[] bytes;
  final Deque<PublishFrame> unconfirmed = new ArrayDeque<>(2);
  long nextSequence = 1;

  TopicState(String name) {
    this.name = name;
    this.bytes = name.getBytes(StandardCharsets.UTF_8);
  }
}
