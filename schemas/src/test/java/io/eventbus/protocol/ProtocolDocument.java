package io.eventbus.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The protocol's document and its examples. */
final class ProtocolDocument {
  static final String TEXT = read(Path.of("docs", "protocol.md"));

  private ProtocolDocument() {}

  /** Finds a file of the repository, whichever of its folders the test was started in. */
  static Path find(Path path) {
    Path folder = Path.of("").toAbsolutePath();
    while (folder != null && !Files.exists(folder.resolve(path))) {
      folder = folder.getParent();
    }
    if (folder == null) {
      throw new AssertionError("no " + path + " above " + Path.of("").toAbsolutePath());
    }
    return folder.resolve(path);
  }

  static String read(Path path) {
    try {
      return Files.readString(find(path));
    } catch (IOException e) {
      throw new AssertionError(path + " cannot be read", e);
    }
  }

  /** Returns the bytes of a type's example. */
  static byte[] frame(TypeCode type) {
    return bytes(block(example(type), "hex"));
  }

  static String section(String heading) {
    Matcher section = Pattern.compile("(?ms)^## " + heading + "\n(.*?)(?=^## |\\z)").matcher(TEXT);
    assertThat(section.find()).as("section " + heading).isTrue();
    return section.group(1);
  }

  static String example(TypeCode type) {
    String heading = String.format("### %03d ", type.code());
    int start = TEXT.indexOf(heading);
    assertThat(start).as("an example of " + type).isNotNegative();
    int end = TEXT.indexOf("\n#", start + 1);
    return TEXT.substring(start, end < 0 ? TEXT.length() : end);
  }

  static String block(String section, String language) {
    List<String> blocks = blocks(section, language);
    assertThat(blocks).as("blocks of " + language).isNotEmpty();
    return blocks.get(0);
  }

  static List<String> blocks(String section, String language) {
    return Pattern.compile("(?s)```" + language + "\n(.*?)```")
        .matcher(section)
        .results()
        .map(block -> block.group(1))
        .toList();
  }

  /** Returns the bytes of a listing; text beside a line must be the bytes of that line. */
  static byte[] bytes(String listing) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (String line : listing.lines().toList()) {
      String[] parts = line.split(";", 2);
      assertThat(parts).as("bytes, a semicolon and a note: " + line).hasSize(2);
      byte[] part = HexFormat.ofDelimiter(" ").parseHex(parts[0].strip());
      String note = parts[1].strip();
      if (note.startsWith("\"")) {
        String shown = note.substring(1, note.length() - 1).replace("\\\"", "\"");
        assertThat(new String(part, StandardCharsets.UTF_8)).isEqualTo(shown);
      }
      bytes.writeBytes(part);
    }
    return bytes.toByteArray();
  }
}
