package io.eventbus.loadtest.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class MarkdownPageTest {
  private static final Chapter CHAPTER =
      chapter("2026-01-02T03:04:05Z", "loadtest run w --runs 5", List.of("x | <y>", "1"));

  private static Chapter chapter(String startedAt, String command, List<String> row) {
    return new Chapter(
        "Workloads",
        startedAt,
        command,
        new Machine("cpu", 2, -1, "Linux", "JVM"),
        List.of("eventbus 1"),
        List.of("A remark."),
        List.of(
            new Section("Medians", List.of(List.of("a", "b"), row), 1),
            new Section("Nothing", List.of(List.of("a", "b")), 1)),
        List.of(
            SpeedTarget.of("fast: >= 2 x", "3 x", true),
            SpeedTarget.of("small", "9 MB", false),
            SpeedTarget.notMeasured("cheap", "no run")));
  }

  @Test
  void aFileIsShownWithItsCommandMachineAndTables() {
    String figures = MarkdownPage.figures(List.of(CHAPTER), "benchmarks/medians.json");
    assertThat(figures)
        .contains("## Workloads, 2026-01-02\n")
        .contains("```bash\nL=\"java -jar loadtest/target/loadtest.jar\"\n$L run w --runs 5\n```")
        .contains("cpu, 2 cores, Linux, JVM.\n\nSystems: eventbus 1.\n")
        .contains("[The medians with all digits](benchmarks/medians.json)")
        .contains("A remark.")
        .contains("### Medians\n\n| a | b |\n|---|---:|\n| x \\| &lt;y> | 1 |\n")
        .doesNotContain("Nothing");
  }

  @Test
  void whatIsMissedComesBeforeWhatIsReached() {
    String figures = MarkdownPage.figures(List.of(CHAPTER), "");
    assertThat(figures)
        .contains("1 missed, 1 reached.")
        .containsSubsequence(
            "- **Target missed:** small; measured 9 MB\n", "| fast: ≥ 2 x | 3 x |\n")
        .doesNotContain("cheap", "medians");
  }

  @Test
  void filesOfOneDayHaveCommonTables() {
    String more = "loadtest run " + "w ".repeat(60) + "--runs 5";
    Chapter other = chapter("2026-01-02T08:00:00Z", more, List.of("z", "2"));
    Chapter later = chapter("2026-01-03T08:00:00Z", "", List.of("z", "3"));
    assertThat(MarkdownPage.figures(List.of(CHAPTER, other, later), ""))
        .containsOnlyOnce("## Workloads, 2026-01-02\n")
        .contains("$L run w --runs 5\n$L run w w")
        .contains("w w \\\n    --runs 5\n```")
        .contains("| x \\| &lt;y> | 1 |\n| z | 2 |\n\n## Workloads, 2026-01-03\n")
        .contains("# The command is not in the file.\n");
  }

  @Test
  void onlyWhatIsBetweenTheMarksIsReplaced() {
    String document = "before\n" + MarkdownPage.BEGIN + "\nold\n" + MarkdownPage.END + "\nafter\n";
    String once = MarkdownPage.into(document, "new\n");
    assertThat(once)
        .isEqualTo(
            "before\n" + MarkdownPage.BEGIN + "\n\nnew\n\n" + MarkdownPage.END + "\nafter\n");
    assertThat(MarkdownPage.into(once, "new")).isEqualTo(once);
    assertThatThrownBy(() -> MarkdownPage.into("no marks", "new"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(MarkdownPage.BEGIN);
  }
}
