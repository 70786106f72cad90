package io.eventbus.cli.console;

import java.util.ArrayList;
import java.util.List;

/** Lines of text with aligned columns. */
public final class TableText {
  private final List<List<String>> rows = new ArrayList<>();

  /** Adds a row; the first is the head. Every row has as many cells. */
  public TableText row(String... cells) {
    List<String> safe = new ArrayList<>();
    for (String cell : cells) {
      safe.add(Text.printable(cell));
    }
    rows.add(safe);
    return this;
  }

  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < row.size(); i++) {
        line.append(row.get(i));
        if (i + 1 < row.size()) {
          line.append(" ".repeat(width(i) - row.get(i).length() + 2));
        }
      }
      lines.add(line.toString().stripTrailing());
    }
    return lines;
  }

  private int width(int column) {
    return rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0);
  }
}
