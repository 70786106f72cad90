package io.eventbus.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Part of a page in {@code docs} that is generated: what stands between its two markers. */
public final class GeneratedPart {
  /** Maximum length of the text of an entry, in characters. */
  public static final int MAX_TEXT = 200;

  private static final int WIDTH = 160;

  private GeneratedPart() {}

  /**
   * Returns the part.
   *
   * @param page for example "configuration.md"
   * @param part name in the markers {@code <!-- begin: NAME -->} and {@code <!-- end: NAME -->}
   */
  public static String read(String page, String part) throws IOException {
    return Marked.of(page, part).content();
  }

  /**
   * Checks that the part is as it would be generated. Where it is not, the expected page is written
   * to the module's {@code target}, to be copied.
   *
   * @param page as that of {@link #read}
   * @param part as that of {@link #read}
   */
  public static void check(String page, String part, String expected) throws IOException {
    Marked marked = Marked.of(page, part);
    if (!marked.content().equals(expected)) {
      Path copy = Files.createDirectories(Path.of("target", "docs")).resolve(page);
      Files.writeString(copy, marked.before() + expected + marked.after());
      String module = String.valueOf(Path.of("").toAbsolutePath().getFileName());
      throw new AssertionError(
          "docs/%s differs from the code in its part \"%s\"; do: cp %s/%s docs/%s"
              .formatted(page, part, module, copy, page));
    }
  }

  /** Page, cut at the markers of a part. */
  private record Marked(String before, String content, String after) {
    static Marked of(String page, String part) throws IOException {
      String text = Files.readString(Path.of("..", "docs", page)).replace("\r\n", "\n");
      String begin = "<!-- begin: " + part + " -->\n";
      String end = "<!-- end: " + part + " -->\n";
      int from = text.indexOf(begin) + begin.length();
      int to = text.indexOf(end);
      if (!text.contains(begin) || to < from) {
        throw new AssertionError("docs/" + page + ": no lines " + begin + "and " + end);
      }
      return new Marked(text.substring(0, from), text.substring(from, to), text.substring(to));
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
