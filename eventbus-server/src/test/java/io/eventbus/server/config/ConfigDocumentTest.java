package io.eventbus.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The table in the operations manual equals the table in the code. */
class ConfigDocumentTest {
  private static final Path DOCUMENT = Path.of("..", "docs", "operations.md");
  private static final String BEGIN = "<!-- begin: configuration keys -->\n";
  private static final String END = "<!-- end: configuration keys -->\n";

  @Test
  void operationsManualHasEveryKey() throws Exception {
    String document = Files.readString(DOCUMENT);
    assertThat(document).contains(BEGIN, END);
    String table =
        document.substring(document.indexOf(BEGIN) + BEGIN.length(), document.indexOf(END));
    assertThat(table).isEqualTo(table());
  }

  private static String table() {
    return Arrays.stream(ConfigKey.values())
        .map(ConfigDocumentTest::row)
        .collect(
            Collectors.joining(
                "\n", "| key | default | range | what it does |\n|---|---|---|---|\n", "\n"));
  }

  private static String row(ConfigKey key) {
    String name = "`" + key.key() + "`" + (key.flag().isEmpty() ? "" : "<br>`" + key.flag() + "`");
    String value = key.defaultText().isEmpty() ? "none" : "`" + key.defaultText() + "`";
    return "| " + name + " | " + value + " | " + key.range() + " | " + key.reason() + " |";
  }
}
