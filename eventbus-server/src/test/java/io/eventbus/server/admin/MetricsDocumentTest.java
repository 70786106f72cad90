package io.eventbus.server.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The table in the operations manual equals the table in the code. */
class MetricsDocumentTest {
  private static final Path DOCUMENT = Path.of("..", "docs", "operations.md");
  private static final String BEGIN = "<!-- begin: metrics -->\n";
  private static final String END = "<!-- end: metrics -->\n";

  @Test
  void operationsManualHasEveryMetric() throws Exception {
    String document = Files.readString(DOCUMENT);
    assertThat(document).contains(BEGIN, END);
    assertThat(document.substring(document.indexOf(BEGIN) + BEGIN.length(), document.indexOf(END)))
        .isEqualTo(table());
  }

  private static String table() {
    return BusMetric.ALL.stream()
        .map(
            m ->
                "| `"
                    + m.name()
                    + "` | "
                    + m.type()
                    + " | "
                    + (m.label().isEmpty() ? "" : "`" + m.label() + "`")
                    + " | "
                    + m.help()
                    + " |")
        .collect(
            Collectors.joining(
                "\n", "| metric | type | label | what it says |\n|---|---|---|---|\n", "\n"));
  }
}
