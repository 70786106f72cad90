package io.eventbus.client.internal.inbound;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Topics and producers that events have come from, found by bytes without making a string. Bounded:
 * pairs of topic and producer that were quiet are forgotten (second chance, an approximation of
 * least recently used: F. Corbató, "A Paging Experiment with the Multics System", 1968). Confined
 * to the {@link Dispatcher}'s lock.
 */
final class Routes {
  private final Map<TopicHandlers.Key, TopicHandlers> topics = new HashMap<>();
  private final Deque<ProducerState> pairs = new ArrayDeque<>();
  private final TopicHandlers.Key probe = new TopicHandlers.Key();
  private final int maxPairs;

  Routes(int maxPairs) {
    this.maxPairs = maxPairs;
  }

  TopicHandlers topic(byte[] array, int start, int length, Supplier<String> name) {
    TopicHandlers route = topics.get(probe.point(array, start, length));
    if (route == null) {
      TopicHandlers.Key key = probe.copy();
      route = new TopicHandlers(name.get(), key);
      topics.put(key, route);
    }
    return route;
  }

  ProducerState producer(TopicHandlers topic, long producer) {
    ProducerState state = topic.latest;
    if (state == null || state.producer != producer) {
      state = topic.producers.get(producer);
      if (state == null) {
        state = new ProducerState(topic, producer);
        topic.producers.put(producer, state);
        pairs.addLast(state);
        if (pairs.size() > maxPairs) {
          forgetOne();
        }
      }
      topic.latest = state;
    }
    state.touched = true;
    return state;
  }

  private void forgetOne() {
    // The newest one is at the end and untouched; all others are examined before it.
    for (int i = pairs.size(); i > 1; i--) {
      ProducerState eldest = pairs.removeFirst();
      if (!eldest.touched) {
        forget(eldest);
        return;
      }
      eldest.touched = false;
      pairs.addLast(eldest);
    }
    forget(pairs.removeFirst());
  }

  private void forget(ProducerState pair) {
    TopicHandlers topic = pair.topic;
    topic.producers.remove(pair.producer);
    if (topic.latest == pair) {
      topic.latest = null;
    }
    if (topic.producers.isEmpty()) {
      topics.remove(topic.key);
    }
  }

  int size() {
    return pairs.size();
  }

  List<ProducerState> all() {
    return new ArrayList<>(pairs);
  }
}
