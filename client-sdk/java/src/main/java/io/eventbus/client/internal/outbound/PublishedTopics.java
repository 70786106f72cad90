package io.eventbus.client.internal.outbound;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Topics that a client publishes to. Bounded: of too many, those that were quiet for longest
 * (second chance, as in {@code Routes}) and whose events are all sent and confirmed are forgotten,
 * but for the number of their next event. Any thread may look a topic up; all else is guarded by
 * the {@link Outbox}'s lock.
 */
final class PublishedTopics {
  /** Maximum number of topics; each takes a few hundred bytes. */
  static final int MAX_TOPICS = 50_000;

  /** Maximum number of forgotten topics; each takes 32 to 64 bytes. */
  private static final int MAX_FORGOTTEN = 1_000_000;

  /**
   * Number of topics that are examined for each new one: a publisher does not wait for a walk over
   * all.
   */
  private static final int LOOKED_AT = 8;

  private final Map<String, TopicState> byName = new ConcurrentHashMap<>();
  private final Deque<TopicState> eldestFirst = new ArrayDeque<>();
  private final ForgottenTopics forgotten = new ForgottenTopics(MAX_FORGOTTEN);
  private final int max;

  PublishedTopics(int max) {
    this.max = max;
  }

  /** Returns the topic of this name; null if there is none. Any thread. */
  @Nullable TopicState known(String name) {
    return byName.get(name);
  }

  /** Returns the topic of this name; {@link #use} has to follow. Any thread. */
  TopicState get(String name) {
    TopicState known = byName.get(name);
    return known != null ? known : byName.computeIfAbsent(name, TopicState::new);
  }

  int size() {
    return byName.size();
  }

  /** Test whether a topic that no stage waits for may be forgotten. */
  @FunctionalInterface
  interface Quiet {
    boolean isQuiet(TopicState topic);
  }

  /**
   * Marks a topic as used before an event is published; returns the topic to use from now on:
   * another object if this one was forgotten meanwhile.
   */
  TopicState use(TopicState found, Quiet quiet) {
    TopicState topic = found.forgotten ? get(found.name) : found;
    topic.touched = true;
    if (topic.nextSequence == 0) {
      topic.nextSequence = forgotten.next(topic.bytes);
      eldestFirst.addLast(topic);
      if (eldestFirst.size() > max) {
        forgetSome(topic, quiet);
      }
    }
    return topic;
  }

  private void forgetSome(TopicState inUse, Quiet quiet) {
    for (int i = 0; i < LOOKED_AT && eldestFirst.size() > max; i++) {
      TopicState eldest = eldestFirst.removeFirst();
      boolean busy =
          eldest == inUse
              || eldest.touched
              || !eldest.unconfirmed.isEmpty()
              || !quiet.isQuiet(eldest);
      if (busy) {
        eldest.touched = false;
        eldestFirst.addLast(eldest);
      } else {
        eldest.forgotten = true;
        byName.remove(eldest.name);
        forgotten.put(eldest.bytes, eldest.nextSequence);
      }
    }
  }

  /** Restarts every topic at 1. */
  void restart() {
    eldestFirst.forEach(topic -> topic.nextSequence = 1);
    forgotten.clear();
  }
}
