package io.eventbus.journal.state;

import io.eventbus.journal.TakenRun;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs of a consumer while a record changes them: by position, and never two next to each other
 * that could be one. For one thread.
 */
final class RunList {
  private final List<TakenRun> runs;

  RunList(List<TakenRun> runs) {
    this.runs = new ArrayList<>(runs);
  }

  /** Returns a copy of the runs. */
  List<TakenRun> toList() {
    return List.copyOf(runs);
  }

  /** Adds a run, of positions that none has. */
  void add(TakenRun run) {
    int at = firstEndingAt(run.from());
    TakenRun merged = run;
    if (at > 0 && continues(runs.get(at - 1), run)) {
      at--;
      merged = new TakenRun(runs.remove(at).from(), run.to(), run.attempt());
    }
    if (at < runs.size() && continues(merged, runs.get(at))) {
      merged = new TakenRun(merged.from(), runs.remove(at).to(), run.attempt());
    }
    runs.add(at, merged);
  }

  private static boolean continues(TakenRun run, TakenRun next) {
    return run.to() + 1 == next.from() && run.attempt() == next.attempt();
  }

  /** Removes those of a range of positions that are of an attempt, and returns them. */
  List<TakenRun> cut(long from, long to, int attempt) {
    List<TakenRun> removed = new ArrayList<>();
    int at = firstEndingAt(from);
    while (at < runs.size() && runs.get(at).from() <= to) {
      TakenRun run = runs.get(at);
      if (run.attempt() != attempt) {
        at++;
        continue;
      }
      TakenRun cut = new TakenRun(Math.max(run.from(), from), Math.min(run.to(), to), attempt);
      removed.add(cut);
      runs.remove(at);
      if (run.from() < cut.from()) {
        runs.add(at++, new TakenRun(run.from(), cut.from() - 1, attempt));
      }
      if (cut.to() < run.to()) {
        runs.add(at++, new TakenRun(cut.to() + 1, run.to(), attempt));
      }
    }
    return removed;
  }

  /** Returns the index of the first run that ends at a position or behind it. */
  private int firstEndingAt(long position) {
    int low = 0;
    int high = runs.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (runs.get(middle).to() < position) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
