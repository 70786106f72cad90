package io.eventbus.loadtest.report;

import java.util.List;

/** A table with its title. */
public record Section(String title, List<List<String>> rows, int textColumns) {
  /** Takes a copy. */
  public Section {
    rows = List.copyOf(rows);
  }
}
