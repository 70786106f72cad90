package io.eventbus.loadtest.report;

import java.util.Locale;

/** Writes figures the way people read them: three digits, a unit where it needs one. */
final class Figures {
  private Figures() {}

  /** Writes a rate: {@code 812}, {@code 64.1 k}, {@code 4.05 M}. */
  static String rate(double perSecond) {
    if (perSecond >= 1e6) {
      return digits(perSecond / 1e6) + " M";
    }
    return perSecond >= 1e4 ? digits(perSecond / 1e3) + " k" : digits(perSecond);
  }

  /** Writes a time in microseconds; nothing is known of a negative one. */
  static String micros(double micros) {
    return micros < 0 ? "?" : digits(micros);
  }

  /** Writes a time in milliseconds; nothing is known of a negative one. */
  static String millis(double millis) {
    return millis < 0 ? "?" : digits(millis);
  }

  /** Writes a ratio. */
  static String ratio(double ratio) {
    return String.format(Locale.ROOT, "%.2f", ratio);
  }

  /** Writes bytes as kibibytes; may be negative, where memory was given back. */
  static String kibibytes(double bytes) {
    return digits(bytes / 1024);
  }

  /** Writes bytes as mebibytes. */
  static String mebibytes(double bytes) {
    return bytes < 0 ? "?" : digits(bytes / (1 << 20));
  }

  private static String digits(double value) {
    double size = Math.abs(value);
    String format = size >= 100 || size == 0 ? "%,.0f" : size >= 10 ? "%.1f" : "%.2f";
    return String.format(Locale.ROOT, format, value);
  }
}
