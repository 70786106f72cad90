package io.eventbus.server.samples;

import java.lang.management.ManagementFactory;

/** Measures what is alive on the heap of this JVM. */
public final class UsedHeap {
  private UsedHeap() {}

  /** Collects until it gets no less: what earlier tests left goes in several collections. */
  public static long bytes() {
    long least = Long.MAX_VALUE;
    for (int i = 0, same = 0; i < 30 && same < 3; i++, same++) {
      System.gc();
      long used = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
      if (used < least) {
        least = used;
        same = 0;
      }
    }
    return least;
  }
}
