package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TypeCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Conversation of the protocol's document, held with a bus, with the bytes of its examples. */
class ConversationIT extends HostileTests {
  private static final Path DOCUMENT = Path.of("..", "docs", "protocol.md");

  @Test
  void theConversationOfTheDocumentIsWhatAClientAndABusSay() throws IOException {
    String document = Files.readString(DOCUMENT);
    List<String> lines =
        found(document, "## A conversation\n.*?```text\n(.*?)```").lines().toList();
    assertThat(lines).hasSizeGreaterThan(9);
    try (RawClient client = RawClient.upgraded(bus.uri())) {
      for (String line : lines) {
        for (String name : line.substring(3).split(" {2,}", 2)[0].split(" ", -1)) {
          if (name.equals("Close")) {
            client.sendFrame(0x88, new byte[] {1000 >> 8, (byte) 1000});
            assertThat(client.awaitClose()).isEqualTo(1000);
          } else if (line.startsWith("-> ")) {
            client.send(example(document, name));
          } else {
            assertThat(line).startsWith("<- ");
            client.expect(type(name));
          }
        }
      }
    }
  }

  private static TypeCode type(String record) {
    return TypeCode.valueOf(record.replaceAll("(?<=.)([A-Z])", "_$1").toUpperCase(Locale.ROOT));
  }

  private static byte[] example(String document, String record) {
    String listing = found(document, "### \\d{3} " + record + "\n.*?```hex\n(.*?)```");
    return HexFormat.of().parseHex(listing.replaceAll(";.*", "").replaceAll("\\s", ""));
  }

  private static String found(String document, String pattern) {
    Matcher matcher = Pattern.compile("(?s)" + pattern).matcher(document);
    assertThat(matcher.find()).as(pattern).isTrue();
    return matcher.group(1);
  }
}
