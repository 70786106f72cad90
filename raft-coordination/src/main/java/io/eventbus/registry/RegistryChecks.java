package io.eventbus.registry;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Checks of all values that enter the registry.
 *
 * <p>A bus that refuses a value which another bus accepts would fork the replicated state. So
 * nothing here asks the Java runtime what a letter or a space is: its answer changes with its
 * version of Unicode.
 */
final class RegistryChecks {
  static final int MAX_NAME = 64;

  private static final int SHOWN = 64;

  private RegistryChecks() {}

  /** Checks a name made of letters, digits, '.', '_' and '-', starting with a letter or a digit. */
  static String name(String field, @Nullable String value) {
    String name = Objects.requireNonNull(value, field);
    if (name.isEmpty() || name.length() > MAX_NAME) {
      throw illegal(field, name, "1 to " + MAX_NAME + " characters");
    }
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      boolean ok = isLetterOrDigit(c) || (i > 0 && (c == '.' || c == '_' || c == '-'));
      if (!ok) {
        throw illegal(field, name, "letters, digits, then also '.', '_' and '-'");
      }
    }
    return name;
  }

  /** Checks a text of at most that many bytes of UTF-8, without control characters. */
  static String text(String field, @Nullable String value, int minBytes, int maxBytes) {
    String text = Objects.requireNonNull(value, field);
    int bytes = utf8Length(text);
    if (bytes < minBytes || bytes > maxBytes) {
      throw illegal(field, text, minBytes + " to " + maxBytes + " bytes of UTF-8, not " + bytes);
    }
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      if (isControl(c)) {
        throw illegal(field, text, "no control characters");
      }
      i += Character.charCount(c);
    }
    return text;
  }

  static int range(String field, int value, int min, int max) {
    return (int) range(field, (long) value, min, max);
  }

  static long range(String field, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          field + ": " + value + " (expected: " + min + " to " + max + ")");
    }
    return value;
  }

  static IllegalArgumentException illegal(String field, String value, String expected) {
    return new IllegalArgumentException(
        field + ": " + quote(value) + " (expected: " + expected + ")");
  }

  /** Quotes hostile text safely: short, and without anything that a terminal would act on. */
  static String quote(String text) {
    StringBuilder shown = new StringBuilder("'");
    int n = Math.min(text.length(), SHOWN);
    for (int i = 0; i < n; i++) {
      char c = text.charAt(i);
      if (c > 0x1F && c < 0x7F && c != '\'') {
        shown.append(c);
      } else {
        shown.append(String.format("\\u%04X", (int) c));
      }
    }
    return shown.append(text.length() > n ? "…'" : "'").toString();
  }

  static boolean isLetterOrDigit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  }

  /**
   * Returns whether it is a control, or half of a surrogate pair, which has no encoding in UTF-8.
   */
  static boolean isControl(int c) {
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0xD800 && c <= 0xDFFF);
  }

  /** Returns whether it is a space or line separator, by number. */
  static boolean isSpace(int c) {
    return c == 0x20
        || c == 0xA0
        || c == 0x1680
        || c == 0x180E
        || (c >= 0x2000 && c <= 0x200A)
        || c == 0x2028
        || c == 0x2029
        || c == 0x202F
        || c == 0x205F
        || c == 0x3000;
  }

  /**
   * Returns the length in UTF-8; a text longer than that in characters is not encoded to find out.
   */
  private static int utf8Length(String text) {
    return text.length() > 4096 ? text.length() : text.getBytes(StandardCharsets.UTF_8).length;
  }
}
