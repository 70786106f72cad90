package io.eventbus.registry.faults;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;

/**
 * Topics that clients fight for: a few at a time, each for a bounded number of operations and of
 * commands whose outcome nobody knows, so that its history can be checked.
 */
final class Topics {
  /**
   * Maximum number of commands of unknown outcome: each may come anywhere later and doubles the
   * search.
   */
  static final int MAX_OPEN = 6;

  static final int AT_A_TIME = 4;
  static final int OPERATIONS = 70;

  private final int[] used = new int[AT_A_TIME];

  /** Commands of each topic that are not answered yet, or never. */
  private final Map<String, Integer> open = new HashMap<>();

  synchronized String next(Random random) {
    int slot = random.nextInt(AT_A_TIME);
    return "t." + slot + "." + used[slot]++ / OPERATIONS;
  }

  /**
   * Begins a command.
   *
   * @return whether the topic may have one more
   */
  synchronized boolean begin(String topic) {
    int now = open.getOrDefault(topic, 0);
    if (now < MAX_OPEN) {
      open.put(topic, now + 1);
    }
    return now < MAX_OPEN;
  }

  /** Ends a command whose outcome is known. */
  synchronized void end(String topic) {
    open.merge(topic, -1, Integer::sum);
  }
}
