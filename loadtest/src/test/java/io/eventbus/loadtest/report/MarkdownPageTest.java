package io.eventbus.loadtest.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class MarkdownPageTest {
  private static final Chapter CHAPTER =
      new Chapter(
          "Workloads",
          "2026-01-02T03:04:05Z",
          "loadtest run w --runs 5",
          new Machine("cpu", 2, -1, "Linux", "JVM"),
          "eventbus 1",
          List.of("A remark."),
          List.of(
              new Section("Medians", List.of(List.of("a", "b"), List.of("x | <y>", "1")), 1),
              new Section("Nothing", List.of(List.of("a", "b")), 1)),
          List.of(
              SpeedTarget.of("fast", "3 x", true),
              SpeedTarget.of("small", "9 MB", false),
              SpeedTarget.notMeasured("cheap", "no run")));

  @Test
  void aFileIsShownWithItsCommandMachineAndTables() {
    String figures = MarkdownPage.figures(List.of(CHAPTER), "benchmarks/medians.json");
    assertThat(figures)
        .contains("## Workloads, 2026-01-02\n")
        .contains("```\nloadtest run w --runs 5\n```")
        .contains("cpu, 2 cores, Linux, JVM. Systems: eventbus 1.")
        .contains("[The medians with all digits](benchmarks/medians.json)")
        .contains("A remark.")
        .contains("### Medians\n\n| a | b |\n|---|---:|\n| x \\| &lt;y> | 1 |\n")
        .doesNotContain("Nothing");
  }

  @Test
  void whatIsMissedComesBeforeWhatIsReached() {
    String figures = MarkdownPage.figures(List.of(CHAPTER), "");
    assertThat(figures)
        .contains("1 reached, 1 not.")
        .containsSubsequence("| small | 9 MB | **NOT reached** |", "| fast | 3 x | reached |")
        .doesNotContain("cheap", "medians");
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
