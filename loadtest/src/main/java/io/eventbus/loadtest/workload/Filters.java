package io.eventbus.loadtest.workload;

/**
 * Selection of a filter, worked out without the code under test, so that a mistake there does not
 * hide itself here.
 */
final class Filters {
  /** Stands for the subscriber's number. */
  static final String SUBSCRIBER = "{subscriber}";

  private Filters() {}

  static void check(String filter) {
    String[] tokens = filter.replace(SUBSCRIBER, "0").split("\\.", -1);
    for (int i = 0; i < tokens.length; i++) {
      boolean tail = tokens[i].equals(">") && i == tokens.length - 1;
      if (!tail && !tokens[i].matches("\\*|[A-Za-z0-9_-]+")) {
        throw new IllegalArgumentException(
            "filters: "
                + filter
                + " (expected: tokens of letters and digits, * for one, a last > for the rest)");
      }
    }
  }

  static boolean matches(String filter, String topic) {
    String[] wanted = filter.split("\\.", -1);
    String[] tokens = topic.split("\\.", -1);
    for (int i = 0; i < wanted.length; i++) {
      if (i == tokens.length) {
        return false;
      }
      if (wanted[i].equals(">")) {
        return true;
      }
      if (!wanted[i].equals("*") && !wanted[i].equals(tokens[i])) {
        return false;
      }
    }
    return wanted.length == tokens.length;
  }
}
