package io.eventbus.cli.demo;

import io.eventbus.client.ReceivedEvent;

/**
 * Positions of the demo's events in the journal, as publishers are told them or as a reader gets
 * them, of one set of data. Safe for use by several threads.
 */
final class DemoLog {
  /** Position of each line of the data; 0 for none. */
  private final long[] positions;

  /** Creates it without events. */
  DemoLog(int lines) {
    positions = new long[lines];
  }

  void add(ReceivedEvent event) {
    int line = DemoTally.line(event, positions.length);
    if (line >= 0) {
      add(line, event.position());
    }
  }

  /** Adds an event; one that comes again at another position is there. */
  synchronized void add(int line, long position) {
    positions[line] = position;
  }

  private synchronized long[] copy() {
    return positions.clone();
  }

  /**
   * Takes the positions of events that this has none of from another log.
   *
   * @return the number of these events
   */
  int complete(DemoLog other) {
    long[] there = other.copy();
    int taken = 0;
    synchronized (this) {
      for (int line = 0; line < positions.length; line++) {
        if (positions[line] == 0) {
          positions[line] = there[line];
          taken++;
        }
      }
    }
    return taken;
  }

  /** Returns the number of events that are not at the same position in both, or only in one. */
  int differences(DemoLog other) {
    long[] here = copy();
    long[] there = other.copy();
    int differences = 0;
    for (int line = 0; line < here.length; line++) {
      differences += here[line] == there[line] ? 0 : 1;
    }
    return differences;
  }
}
