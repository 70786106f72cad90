package io.eventbus.journal.state;

/** Counters of journals that tests make without the rules. */
public final class CounterRows {
  private CounterRows() {}

  /** Returns the row of a journal with these positions. */
  public static byte[] of(long firstPosition, long lastPosition) {
    JournalCounters counters = new JournalCounters();
    counters.firstPosition = firstPosition;
    counters.lastPosition = lastPosition;
    return counters.encode();
  }
}
