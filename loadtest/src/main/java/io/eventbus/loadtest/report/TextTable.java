package io.eventbus.loadtest.report;

import java.util.Arrays;
import java.util.List;

/** Writes rows of cells as aligned columns for a terminal. */
public final class TextTable {
  private TextTable() {}

  /** Writes a table. */
  public static void write(StringBuilder out, List<List<String>> rows, int textColumns) {
    int[] widths = widths(rows);
    for (int i = 0; i < rows.size(); i++) {
      line(out, rows.get(i), widths, textColumns);
      if (i == 0) {
        rule(out, widths);
      }
    }
  }

  private static int[] widths(List<List<String>> rows) {
    int[] widths = new int[rows.get(0).size()];
    for (List<String> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    return widths;
  }

  private static void line(StringBuilder out, List<String> row, int[] widths, int textColumns) {
    for (int i = 0; i < widths.length; i++) {
      String cell = row.get(i);
      String padding = " ".repeat(widths[i] - cell.length());
      out.append(i == 0 ? "" : "  ");
      out.append(i < textColumns ? cell + padding : padding + cell);
    }
    out.append('\n');
  }

  private static void rule(StringBuilder out, int[] widths) {
    int total = Arrays.stream(widths).sum() + 2 * (widths.length - 1);
    out.append("-".repeat(total)).append('\n');
  }
}
