package io.eventbus.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Part of a page in {@code docs} that is generated: what stands between its two markers. */
public final class GeneratedPart {
  private static final int WIDTH = 160;

  private GeneratedPart() {}

  /**
   * Checks that the part is as it would be generated. Where it is not, the expected page is written
   * to the module's {@code target}, to be copied.
   *
   * @param page for example "configuration.md"
   * @param part name in the markers {@code <!-- begin: NAME -->} and {@code <!-- end: NAME -->}
   */
  public static void check(String page, String part, String expected) throws IOException {
    Path document = Path.of("..", "docs", page);
    String text = Files.readString(document).replace("\r\n", "\n");
    String begin = "<!-- begin: " + part + " -->\n";
    String end = "<!-- end: " + part + " -->\n";
    int from = text.indexOf(begin);
    int to = text.indexOf(end);
    if (from < 0 || to < from) {
      throw new AssertionError("docs/" + page + ": no lines " + begin + "and " + end);
    }
    String before = text.substring(0, from + begin.length());
    if (!text.substring(before.length(), to).equals(expected)) {
      Path copy = Files.createDirectories(Path.of("target", "docs")).resolve(page);
      Files.writeString(copy, before + expected + text.substring(to));
      String module = String.valueOf(Path.of("").toAbsolutePath().getFileName());
      throw new AssertionError(
          "docs/%s differs from the code in its part \"%s\"; do: cp %s/%s docs/%s"
              .formatted(page, part, module, copy, page));
    }
  }

  /**
   * Returns an entry of a list, in lines of at most 160 characters where its words allow it.
   *
   * @param head first line, in Markdown
   * @param text what stands below it, in Markdown
   */
  public static String entry(String head, String text) {
    return wrapped("- " + head + "<br>", "  ") + wrapped("  " + text, "  ");
  }

  /** Returns a paragraph and an empty line, in lines of at most 160 characters. */
  public static String paragraph(String text) {
    return wrapped(text, "") + "\n";
  }

  private static String wrapped(String text, String indentation) {
    StringBuilder lines = new StringBuilder();
    String rest = text;
    while (rest.length() > WIDTH && rest.lastIndexOf(' ', WIDTH) > indentation.length()) {
      int at = rest.lastIndexOf(' ', WIDTH);
      lines.append(rest, 0, at).append('\n');
      rest = indentation + rest.substring(at + 1);
    }
    return lines.append(rest).append('\n').toString();
  }
}
