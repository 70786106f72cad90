package io.eventbus.server.config;

import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/**
 * Search for the known name that was probably meant by a mistyped one (Levenshtein distance), if
 * there is one: at most a third of it may differ.
 */
final class NearestName {
  private NearestName() {}

  /** Returns what was expected in the place of an unknown name, for a person. */
  static String expected(String name, Collection<String> known) {
    return of(name, known)
        .map(near -> "(expected: a known one; the nearest is " + near + ")")
        .orElse("(expected: a known one; eventbus config print shows all)");
  }

  static String expectedKey(String name) {
    return expected(name, Arrays.stream(ConfigKey.values()).map(ConfigKey::key).toList());
  }

  private static Optional<String> of(String name, Collection<String> known) {
    // Names from outside may be long; the distance costs the product of the lengths.
    String start = name.length() > 100 ? name.substring(0, 100) : name;
    return known.stream()
        .min(Comparator.comparingInt(k -> distance(start, k)))
        .filter(k -> distance(start, k) <= Math.max(name.length(), k.length()) / 3);
  }

  private static int distance(String one, String other) {
    int[] row = new int[other.length() + 1];
    Arrays.setAll(row, i -> i);
    for (int i = 1; i <= one.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= other.length(); j++) {
        int above = row[j];
        int change = diagonal + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(change, 1 + Math.min(above, row[j - 1]));
        diagonal = above;
      }
    }
    return row[other.length()];
  }
}
