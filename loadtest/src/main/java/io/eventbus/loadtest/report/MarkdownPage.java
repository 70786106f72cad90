package io.eventbus.loadtest.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Writes result files as Markdown, between two marks of a document that people write. */
public final class MarkdownPage {
  /** The line before what is generated. */
  public static final String BEGIN = "<!-- figures: begin (loadtest page writes them) -->";

  /** The line after it. */
  public static final String END = "<!-- figures: end -->";

  private static final Pattern DAY = Pattern.compile("T.*");

  /** Longer commands take two lines. */
  private static final int MAX_COMMAND = 120;

  private MarkdownPage() {}

  /**
   * Writes the text between the marks: the targets of all chapters, then their tables. Chapters of
   * one day and machine have common tables.
   *
   * @param medians path of the file with the medians, seen from the document; empty for none
   */
  public static String figures(List<Chapter> chapters, String medians) {
    StringBuilder out = new StringBuilder();
    targets(out, chapters);
    if (!medians.isEmpty()) {
      line(
          out,
          "[The medians with all digits](" + medians + "): a line for each workload and system.");
    }
    Map<String, List<Chapter>> days = new LinkedHashMap<>();
    for (Chapter chapter : chapters) {
      days.computeIfAbsent(heading(chapter) + chapter.machine(), day -> new ArrayList<>())
          .add(chapter);
    }
    days.values().forEach(day -> day(out, day));
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
    List<SpeedTarget> missed = targets(chapters, SpeedTarget.Verdict.MISSED);
    List<SpeedTarget> reached = targets(chapters, SpeedTarget.Verdict.REACHED);
    out.append("## Targets\n\n");
    out.append(missed.size()).append(" missed, ").append(reached.size()).append(" reached.\n");
    // Readers want to know first which targets are missed.
    if (!missed.isEmpty()) {
      out.append('\n');
    }
    for (SpeedTarget target : missed) {
      out.append("- **Target missed:** ").append(escape(target.goal()));
      out.append("; measured ").append(escape(target.figure())).append('\n');
    }
    if (!reached.isEmpty()) {
      out.append("\n| target reached | measured |\n|---|---|\n");
    }
    reached.forEach(target -> row(out, List.of(target.goal(), target.figure())));
  }

  private static List<SpeedTarget> targets(List<Chapter> chapters, SpeedTarget.Verdict verdict) {
    return chapters.stream()
        .flatMap(chapter -> chapter.targets().stream())
        .filter(target -> target.verdict() == verdict)
        .toList();
  }

  private static void day(StringBuilder out, List<Chapter> chapters) {
    Chapter first = chapters.get(0);
    out.append("\n## ").append(heading(first)).append("\n\n");
    out.append(first.machine()).append(".\n");
    line(
        out,
        chapters.stream()
            .flatMap(chapter -> chapter.systems().stream())
            .distinct()
            .collect(Collectors.joining("; ", "Systems: ", ".")));
    chapters.stream()
        .flatMap(chapter -> chapter.remarks().stream())
        .distinct()
        .forEach(remark -> line(out, remark));
    commands(out, chapters);
    Map<String, Section> sections = new LinkedHashMap<>();
    chapters.stream()
        .flatMap(chapter -> chapter.sections().stream())
        .filter(section -> section.rows().size() > 1)
        .forEach(section -> sections.merge(section.title(), section, MarkdownPage::append));
    for (Section section : sections.values()) {
      out.append("\n### ").append(section.title()).append("\n\n");
      table(out, section);
    }
  }

  private static String heading(Chapter chapter) {
    return chapter.title() + ", " + DAY.matcher(chapter.startedAt()).replaceFirst("");
  }

  /** Appends the rows of a table with the same head. */
  private static Section append(Section one, Section other) {
    List<List<String>> rows = new ArrayList<>(one.rows());
    rows.addAll(other.rows().subList(1, other.rows().size()));
    return new Section(one.title(), rows, one.textColumns());
  }

  private static void line(StringBuilder out, String text) {
    out.append('\n').append(escape(text)).append('\n');
  }

  /** Writes commands as a shell takes them; long ones on several lines. */
  private static void commands(StringBuilder out, List<Chapter> chapters) {
    out.append("\n```bash\nL=\"java -jar loadtest/target/loadtest.jar\"\n");
    for (Chapter chapter : chapters) {
      if (chapter.command().isEmpty()) {
        out.append("# The command is not in the file.\n");
      } else {
        String command = chapter.command().replaceFirst("^loadtest ", "\\$L ");
        int options = command.length() > MAX_COMMAND ? command.indexOf(" --") : -1;
        out.append(
            options < 0
                ? command
                : command.substring(0, options) + " \\\n   " + command.substring(options));
        out.append('\n');
      }
    }
    out.append("```\n");
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
      out.append("| ").append(escape(cell).replace("|", "\\|")).append(' ');
    }
    out.append("|\n");
  }

  private static String escape(String text) {
    return text.replace("<=", "≤").replace(">=", "≥").replace("<", "&lt;");
  }
}
