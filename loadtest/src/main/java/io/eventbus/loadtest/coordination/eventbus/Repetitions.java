package io.eventbus.loadtest.coordination.eventbus;

import io.eventbus.loadtest.coordination.Counter;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Counts, from a server's stream of applied changes, those that did not take a register forward:
 * every value begins with how often its register was written, so a command that is applied twice
 * repeats a number. Any thread.
 */
final class Repetitions {
  private final Map<String, Long> repeated = new ConcurrentHashMap<>();

  /** A change was applied; one that stands for several takes the number further than by one. */
  void changed(String register, String before, String now) {
    if (Counter.of(now) <= Counter.of(before)) {
      repeated.merge(register, 1L, Long::sum);
    }
  }

  /** Returns the number of changes of a register that this server has applied too many. */
  long of(String register) {
    return repeated.getOrDefault(register, 0L);
  }
}
