package io.eventbus.loadtest.report;

import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** Writes result files as Markdown, between two marks of a document that people write. */
public final class MarkdownPage {
  /** The line before what is generated. */
  public static final String BEGIN = "<!-- figures: begin (loadtest page writes them) -->";

  /** The line after it. */
  public static final String END = "<!-- figures: end -->";

  private static final Pattern DAY = Pattern.compile("T.*");

  private MarkdownPage() {}

  /**
   * Writes the text between the marks: the targets of all chapters, then the tables of each.
   *
   * @param medians path of the file with the medians, seen from the document; empty for none
   */
  public static String figures(List<Chapter> chapters, String medians) {
    StringBuilder out = new StringBuilder();
    targets(out, chapters);
    if (!medians.isEmpty()) {
      out.append("\n[The medians with all digits](").append(medians).append("), a line for each ");
      out.append("workload and system.\n");
    }
    for (Chapter chapter : chapters) {
      chapter(out, chapter);
    }
    return out.toString();
  }

  /**
   * Puts figures into a document, in the place of those that are there.
   *
   * @throws IllegalArgumentException if a mark is missing
   */
  public static String into(String document, String figures) {
    int begin = document.indexOf(BEGIN);
    int end = document.indexOf(END);
    if (begin < 0 || end < begin) {
      throw new IllegalArgumentException(
          "marks: absent (expected: lines " + BEGIN + " and " + END + ")");
    }
    return document.substring(0, begin + BEGIN.length())
        + "\n\n"
        + figures.strip()
        + "\n\n"
        + document.substring(end);
  }

  private static void targets(StringBuilder out, List<Chapter> chapters) {
    out.append("## Targets\n\n");
    long reached = count(chapters, SpeedTarget.Verdict.REACHED);
    long missed = count(chapters, SpeedTarget.Verdict.MISSED);
    out.append(reached).append(" reached, ").append(missed).append(" not.\n");
    if (reached + missed == 0) {
      return;
    }
    out.append("\n| target | measured | |\n|---|---|---|\n");
    // Readers want to know first which targets are missed.
    targets(out, chapters, target -> target.verdict() == SpeedTarget.Verdict.MISSED);
    targets(out, chapters, target -> target.verdict() == SpeedTarget.Verdict.REACHED);
  }

  private static long count(List<Chapter> chapters, SpeedTarget.Verdict verdict) {
    return chapters.stream()
        .flatMap(chapter -> chapter.targets().stream())
        .filter(target -> target.verdict() == verdict)
        .count();
  }

  private static void targets(
      StringBuilder out, List<Chapter> chapters, Predicate<SpeedTarget> which) {
    chapters.stream()
        .flatMap(chapter -> chapter.targets().stream())
        .filter(which)
        .forEach(
            target -> {
              String verdict = target.verdict().toString();
              boolean missed = target.verdict() == SpeedTarget.Verdict.MISSED;
              row(
                  out,
                  List.of(
                      target.goal(), target.figure(), missed ? "**" + verdict + "**" : verdict));
            });
  }

  private static void chapter(StringBuilder out, Chapter chapter) {
    out.append("\n## ").append(chapter.title()).append(", ");
    out.append(DAY.matcher(chapter.startedAt()).replaceFirst("")).append("\n\n");
    if (chapter.command().isEmpty()) {
      out.append("The command is not in the file.\n\n");
    } else {
      out.append("```\n").append(chapter.command()).append("\n```\n\n");
    }
    out.append(chapter.machine()).append(". Systems: ").append(chapter.systems()).append(".\n");
    chapter.remarks().forEach(remark -> out.append('\n').append(remark).append('\n'));
    for (Section section : chapter.sections()) {
      if (section.rows().size() > 1) {
        out.append("\n### ").append(section.title()).append("\n\n");
        table(out, section);
      }
    }
  }

  private static void table(StringBuilder out, Section section) {
    row(out, section.rows().get(0));
    int columns = section.rows().get(0).size();
    for (int i = 0; i < columns; i++) {
      out.append(i < section.textColumns() ? "|---" : "|---:");
    }
    out.append("|\n");
    section.rows().stream().skip(1).forEach(row -> row(out, row));
  }

  private static void row(StringBuilder out, List<String> cells) {
    for (String cell : cells) {
      out.append("| ").append(cell.replace("|", "\\|").replace("<", "&lt;")).append(' ');
    }
    out.append("|\n");
  }
}
