package io.eventbus.loadtest.attack;

import java.util.Map;

/**
 * A hostile program, or one that shows what the machine does without any. It runs in a process of
 * its own on one thread, ends soon after {@link Field#over}, and leaves the ending of its
 * connections to its caller.
 */
public interface Attack {
  /** Returns its name. */
  String name();

  /** Says in a few words what it does. */
  String what();

  /** Returns what can be set, with the defaults. */
  default Map<String, Long> knobs(long heapMegabytes) {
    return Map.of();
  }

  /** Returns what it needs of the bus and of the honest pairs. */
  default Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING;
  }

  /**
   * Attacks.
   *
   * @throws Exception if it cannot go on; the attack then counts as failed
   */
  void run(Field field) throws Exception;
}
