package io.eventbus.server.admin;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Parameters of a request: only known names, each at most once. */
final class QueryString {
  private static final int DEFAULT_LIMIT = 100;
  private static final int MAX_LIMIT = 1_000;

  private final Map<String, String> values = new HashMap<>();

  /**
   * Parses a query.
   *
   * @param raw not decoded; null for none
   * @throws HttpFailure if it is malformed, or has a parameter that is unknown or comes twice
   */
  QueryString(@Nullable String raw, Set<String> known) throws HttpFailure {
    if (raw == null || raw.isEmpty()) {
      return;
    }
    for (String pair : raw.split("&", -1)) {
      int equals = pair.indexOf('=');
      String name = decode(equals < 0 ? pair : pair.substring(0, equals));
      if (!known.contains(name)) {
        throw HttpFailure.badRequest(
            "unknown query parameter (expected: "
                + (known.isEmpty() ? "none" : String.join(", ", known.stream().sorted().toList()))
                + ")");
      }
      if (values.put(name, equals < 0 ? "" : decode(pair.substring(equals + 1))) != null) {
        throw HttpFailure.badRequest(name + ": given twice (expected: once)");
      }
    }
  }

  String text(String name, String fallback) {
    return values.getOrDefault(name, fallback);
  }

  /** Returns a parameter; null if it is not given. */
  @Nullable String optional(String name) {
    return values.get(name);
  }

  long number(String name, long fallback) throws HttpFailure {
    String value = values.get(name);
    return value == null ? fallback : parse(name, value);
  }

  int limit() throws HttpFailure {
    long limit = number("limit", DEFAULT_LIMIT);
    if (limit < 1 || limit > MAX_LIMIT) {
      throw HttpFailure.badRequest("limit: out of range (expected: 1 to " + MAX_LIMIT + ")");
    }
    return (int) limit;
  }

  static long parse(String name, String value) throws HttpFailure {
    try {
      return Long.parseLong(value);
    } catch (NumberFormatException e) {
      throw HttpFailure.badRequest(name + ": not a number (expected: a whole number)");
    }
  }

  private static String decode(String text) throws HttpFailure {
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw HttpFailure.badRequest("malformed query (expected: application/x-www-form-urlencoded)");
    }
  }
}
