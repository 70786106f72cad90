package io.eventbus.base;

/** Texts from others in a printable form for a line of a log or a terminal. */
public final class PrintableText {
  private PrintableText() {}

  /**
   * Returns a text with {@code ?} for characters that are invisible or end a line, and shortened if
   * it is long.
   */
  public static String of(String text, int max) {
    StringBuilder shown = new StringBuilder();
    text.codePoints().limit(max).forEach(c -> shown.appendCodePoint(isSeen(c) ? c : '?'));
    return shown.append(text.codePointCount(0, text.length()) > max ? "…" : "").toString();
  }

  /** Returns whether a character is visible and ends no line. */
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
