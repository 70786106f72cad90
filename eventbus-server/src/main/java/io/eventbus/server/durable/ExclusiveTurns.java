package io.eventbus.server.durable;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;

/**
 * Consumers of durable subscriptions, each in the order in which they have come: the first one is
 * active, the others stand by. Any thread.
 */
final class ExclusiveTurns {
  private record Key(int journal, String name) implements Comparable<Key> {
    @Override
    public int compareTo(Key other) {
      int order = name.compareTo(other.name);
      return order != 0 ? order : Integer.compare(journal, other.journal);
    }
  }

  private final Map<Key, Queue<Runnable>> waiting = new HashMap<>();

  /**
   * Adds a consumer.
   *
   * @param activate called once when all before it have left; perhaps before the call returns
   */
  void join(int journal, String name, Runnable activate) {
    synchronized (this) {
      Queue<Runnable> all =
          waiting.computeIfAbsent(new Key(journal, name), key -> new ArrayDeque<>(1));
      all.add(activate);
      if (all.size() > 1) {
        return;
      }
    }
    activate.run();
  }

  /** Removes a consumer that has joined, by the same object. */
  void leave(int journal, String name, Runnable activate) {
    Key key = new Key(journal, name);
    Runnable next;
    synchronized (this) {
      Queue<Runnable> all = waiting.get(key);
      if (all == null) {
        return;
      }
      boolean first = all.peek() == activate;
      all.remove(activate);
      if (all.isEmpty()) {
        waiting.remove(key);
      }
      next = first ? all.peek() : null;
    }
    if (next != null) {
      next.run();
    }
  }
}
