package io.eventbus.cli.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.cli.console.CliFailure;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LineReaderTest {
  @Test
  void linesEndWithLineFeedOrTheEnd() throws Exception {
    assertThat(lines("a\nb\r\n\nc")).containsExactly("a", "b", "", "c");
    assertThat(lines("a\n")).containsExactly("a");
    assertThat(lines("\n")).containsExactly("");
    assertThat(lines("")).isEmpty();
    assertThat(lines("a\rb\n")).containsExactly("a\rb");
  }

  @Test
  void bytesStayAsTheyAre() throws Exception {
    byte[] bytes = {(byte) 0xff, 0, (byte) 0x80};
    assertThat(new LineReader(new ByteArrayInputStream(bytes), 3).next()).isEqualTo(bytes);
  }

  @Test
  void longLinesAreRefused() {
    assertThatThrownBy(() -> lines("abcdef"))
        .isInstanceOf(CliFailure.class)
        .hasMessageContaining("up to 5 bytes");
  }

  private static List<String> lines(String text) throws Exception {
    LineReader reader =
        new LineReader(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), 5);
    List<String> lines = new ArrayList<>();
    for (byte[] line = reader.next(); line != null; line = reader.next()) {
      lines.add(new String(line, StandardCharsets.UTF_8));
    }
    return lines;
  }
}
