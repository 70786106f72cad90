package io.eventbus.server.config;

import java.util.regex.Pattern;

/** Checks of texts whose legal values are a pattern. */
final class TextCheck {
  private static final Pattern URL_PATH = Pattern.compile("(/[A-Za-z0-9._~-]+)+|/");
  private static final Pattern HOST = Pattern.compile("[A-Za-z0-9._:%-]{1,255}");

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");
  private static final Pattern INTERFACE = Pattern.compile("[A-Za-z0-9._:%-]{1,64}");

  private static final Pattern HOST_NAME = Pattern.compile("\\*|[A-Za-z0-9._-]{1,255}");

  private static final Pattern ORIGIN =
      Pattern.compile("\\*|[A-Za-z][A-Za-z0-9+.-]{0,31}://[A-Za-z0-9._:\\[\\]-]{1,255}");

  private static final Pattern NETWORK = Pattern.compile("[0-9A-Fa-f:.]{2,45}(/\\d{1,3})?");

  private TextCheck() {}

  static void name(ConfigKey key, String value) {
    matches(key, value, NAME);
  }

  static void networkInterface(ConfigKey key, String value) {
    matches(key, value, INTERFACE);
  }

  static void urlPath(ConfigKey key, String value) {
    matches(key, value, URL_PATH);
  }

  /** Checks the shape only: whether the name resolves shows when the bus binds to it. */
  static void host(ConfigKey key, String value) {
    matches(key, value, HOST);
  }

  static void hostName(ConfigKey key, String value) {
    matches(key, value, HOST_NAME);
  }

  static void origin(ConfigKey key, String value) {
    matches(key, value, ORIGIN);
  }

  /** Checks the shape only: whether it is a network shows when it is read. */
  static void network(ConfigKey key, String value) {
    matches(key, value, NETWORK);
  }

  static void matches(ConfigKey key, String value, Pattern pattern) {
    if (!pattern.matcher(value).matches()) {
      String shown = key.type() == ValueType.SECRET ? "***" : '"' + value + '"';
      throw new IllegalArgumentException(
          key.key() + ": " + shown + " (expected: " + key.type().expectation() + ")");
    }
  }
}
