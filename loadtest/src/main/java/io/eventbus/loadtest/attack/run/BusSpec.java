package io.eventbus.loadtest.attack.run;

import java.nio.file.Path;
import java.util.Map;

/** Which bus is attacked. */
public record BusSpec(Path jar, Path javaHome, String heap, Map<String, String> settings) {
  private static final int KILO = 1024;

  /** Takes a copy. */
  public BusSpec {
    settings = Map.copyOf(settings);
    if (!heap.matches("[0-9]{1,9}[mMgG]")) {
      throw new IllegalArgumentException("heap: " + heap + " (expected: such as 256m or 1g)");
    }
  }

  /** Returns the heap as a number. */
  public long heapMegabytes() {
    long number = Long.parseLong(heap.substring(0, heap.length() - 1));
    return heap.endsWith("g") || heap.endsWith("G") ? number * KILO : number;
  }
}
