package io.eventbus.cli.demo;

import io.eventbus.cli.console.ResultOutput;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;

/**
 * Screen that shows tables over each other on a terminal, and a few of them below each other
 * elsewhere. For one thread.
 */
final class DemoScreen {
  private static final Duration STEP = Duration.ofMillis(250);
  private static final Duration BETWEEN_SNAPSHOTS = Duration.ofSeconds(6);

  private final ResultOutput out;
  private final boolean terminal;
  private long startNanos = System.nanoTime();
  private Duration nextSnapshot = BETWEEN_SNAPSHOTS;
  private int height;

  DemoScreen(ResultOutput out, boolean terminal) {
    this.out = out;
    this.terminal = terminal;
  }

  void start() {
    startNanos = System.nanoTime();
  }

  Duration elapsed() {
    return Duration.ofNanos(System.nanoTime() - startNanos);
  }

  /** Pauses for the screen's rhythm, not for something to happen. */
  void pause() throws InterruptedException {
    Thread.sleep(STEP.toMillis());
  }

  /** Draws a table, if it is time for one here. */
  void draw(Function<Duration, List<String>> table) {
    Duration now = elapsed();
    if (terminal || now.compareTo(nextSnapshot) >= 0) {
      nextSnapshot = nextSnapshot.plus(BETWEEN_SNAPSHOTS);
      show(now, table.apply(now));
    }
  }

  /** Draws a table on a terminal; elsewhere only those count that are drawn in any case. */
  void animate(Function<Duration, List<String>> table) {
    if (terminal) {
      draw(table);
    }
  }

  /** Draws a table in any case, and leaves it standing. */
  void drawLast(Function<Duration, List<String>> table) {
    Duration now = elapsed();
    show(now, table.apply(now));
    height = 0;
  }

  void lines(List<String> lines) {
    out.line(String.join("\n", lines));
  }

  private void show(Duration now, List<String> table) {
    StringBuilder text = new StringBuilder();
    if (terminal && height > 0) {
      // Up to where the table began, and clear from there.
      text.append("\033[").append(height).append("A\033[J");
    }
    text.append("%nafter %.1f s%n".formatted(now.toMillis() / 1e3));
    table.forEach(line -> text.append(line).append('\n'));
    out.line(text.toString());
    height = table.size() + 3;
  }
}
