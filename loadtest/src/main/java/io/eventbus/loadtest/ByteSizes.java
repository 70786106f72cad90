package io.eventbus.loadtest;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sizes in options, such as {@code 512MiB}. */
final class ByteSizes {
  private static final Pattern SIZE = Pattern.compile("(\\d{1,6})(MiB|GiB)");

  private ByteSizes() {}

  /**
   * Returns the bytes of a size.
   *
   * @throws IllegalArgumentException if it is none, naming the option
   */
  static long parse(String option, String text) {
    Matcher size = SIZE.matcher(text);
    if (!size.matches()) {
      throw new IllegalArgumentException(option + ": " + text + " (expected: such as 512MiB)");
    }
    return Long.parseLong(size.group(1)) << (size.group(2).equals("MiB") ? 20 : 30);
  }
}
