package io.eventbus.loadtest;

import io.eventbus.loadtest.run.Progress;
import java.io.PrintWriter;
import java.util.Locale;
import picocli.CommandLine;

/**
 * Shows how a run goes, on one line of the terminal that is written over every second; shows
 * nothing where there is no terminal.
 */
final class ProgressLine implements Progress {
  private final PrintWriter out;
  private final boolean terminal = CommandLine.Help.Ansi.AUTO.enabled();
  private int shown;

  ProgressLine(PrintWriter out) {
    this.out = out;
  }

  @Override
  public void second(Phase phase, double elapsedSeconds, double published, double delivered) {
    if (!terminal) {
      return;
    }
    String line =
        String.format(
            Locale.ROOT,
            "  %-8s %4.0f s  %,12.0f published/s  %,12.0f delivered/s",
            phase.name().toLowerCase(Locale.ROOT).replace('_', '-'),
            elapsedSeconds,
            published,
            delivered);
    out.print("\r" + line);
    out.flush();
    shown = line.length();
  }

  /** Removes the line. */
  void clear() {
    if (shown > 0) {
      out.print("\r" + " ".repeat(shown) + "\r");
      out.flush();
      shown = 0;
    }
  }
}
