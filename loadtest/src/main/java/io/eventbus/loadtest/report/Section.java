package io.eventbus.loadtest.report;

import java.util.List;

/**
 * A table with its title.
 *
 * @param title of it
 * @param rows cells of text, the first row is the head
 * @param textColumns so many columns at the left hold text, the others figures
 */
public record Section(String title, List<List<String>> rows, int textColumns) {
  /** Takes a copy. */
  public Section {
    rows = List.copyOf(rows);
  }
}
