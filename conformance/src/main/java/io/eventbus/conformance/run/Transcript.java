package io.eventbus.conformance.run;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** Log of the traffic, for people; the caller synchronizes. */
final class Transcript {
  private static final int LINES = 30;
  private static final int LENGTH = 300;

  private final Deque<String> lines = new ArrayDeque<>();
  private final long start = System.nanoTime();

  void add(String who, Object what) {
    String text = what.toString();
    String shown = text.length() > LENGTH ? text.substring(0, LENGTH) + "…" : text;
    lines.add(String.format("%6d ms  %s %s", (System.nanoTime() - start) / 1_000_000, who, shown));
    if (lines.size() > LINES) {
      lines.remove();
    }
  }

  List<String> lines() {
    return List.copyOf(lines);
  }
}
