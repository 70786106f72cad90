package io.eventbus.server.log;

/** Texts of others, as they may stand in a line of a log or on a terminal. */
public final class PrintableText {
  private PrintableText() {}

  /**
   * Makes a text harmless.
   *
   * @return the text with {@code ?} for what is not seen or ends a line, and not all of a long one
   */
  public static String of(String text, int most) {
    StringBuilder shown = new StringBuilder();
    text.codePoints().limit(most).forEach(c -> shown.appendCodePoint(isSeen(c) ? c : '?'));
    return shown.append(text.codePointCount(0, text.length()) > most ? "…" : "").toString();
  }

  /** Says whether a character is seen and ends no line. */
  public static boolean isSeen(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }
}
