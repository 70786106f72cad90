package io.eventbus.loadtest.attack.run;

/** Rule for memory that counts as given back. */
public final class Recovery {
  private static final long COUNTED_SLACK = 1 << 20;
  private static final long JOURNAL_CACHE = 16L << 20;
  private static final double HEAP_FACTOR = 1.5;
  private static final long HEAP_SLACK = 20L << 20;

  private Recovery() {}

  /**
   * Judges what the bus counts.
   *
   * @param before the attack, in bytes
   * @param after the recovery, in bytes
   */
  public static boolean counted(long before, long after) {
    return after >= 0 && after <= Math.max(0, before) + COUNTED_SLACK;
  }

  /**
   * Judges the heap after a collection.
   *
   * @param before the attack, in bytes
   * @param after the recovery, in bytes
   * @param durable whether the bus has journals, whose cache of topics and producers stays
   */
  public static boolean heap(long before, long after, boolean durable) {
    long slack = HEAP_SLACK + (durable ? JOURNAL_CACHE : 0);
    return after >= 0 && after <= Math.max(0, before) * HEAP_FACTOR + slack;
  }
}
