package io.eventbus.protocol;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Rules for topics: tokens separated by dots, at most {@value #MAX_BYTES} bytes of UTF-8 and
 * {@value #MAX_TOKENS} tokens, no empty token, no white space, no control characters, no wildcard.
 */
public final class Topic {
  /** Maximum size of a topic or filter, in bytes of UTF-8. */
  public static final int MAX_BYTES = 255;

  /** Maximum number of tokens of a topic or filter. */
  public static final int MAX_TOKENS = 16;

  /** First character of system topics, to which no client may publish. */
  public static final char SYSTEM = '$';

  private Topic() {}

  /**
   * Returns the error in a topic that a client wants to publish to.
   *
   * @param topic any text
   * @return null for a legal topic, else the reason, to be shown to the client
   */
  public static @Nullable String problem(String topic) {
    String problem = formProblem(topic);
    if (problem == null && topic.charAt(0) == SYSTEM) {
      return "topic "
          + quote(topic)
          + " is the system's (expected: a topic that does not start with $)";
    }
    return problem;
  }

  /**
   * Returns the error in the form of a topic, which may be a system topic.
   *
   * @param topic any text
   * @return null for a topic that an event can have, else the reason
   */
  public static @Nullable String formProblem(String topic) {
    String problem = nameProblem(topic, "topic");
    if (problem != null) {
      return problem;
    }
    if (topic.indexOf('*') >= 0 || topic.indexOf('>') >= 0) {
      return "topic " + quote(topic) + " holds a wildcard (expected: a topic without * and >)";
    }
    return null;
  }

  /**
   * Refuses a topic that breaks the rules.
   *
   * @param topic any text
   * @throws IllegalArgumentException if the topic is illegal, saying why
   */
  public static void check(String topic) {
    String problem = problem(topic);
    if (problem != null) {
      throw new IllegalArgumentException(problem);
    }
  }

  /** Returns the error in a name by the rules that topics and filters share. */
  static @Nullable String nameProblem(String name, String what) {
    if (name.isEmpty()) {
      return what + " is empty (expected: tokens separated by dots)";
    }
    // A char takes at least a byte: a long text is refused without encoding it.
    if (name.length() > MAX_BYTES || name.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES) {
      return what
          + " "
          + quote(name)
          + " has more than "
          + MAX_BYTES
          + " bytes of UTF-8 (expected: at most "
          + MAX_BYTES
          + ")";
    }
    int tokens = 1;
    int tokenStart = 0;
    for (int i = 0; i < name.length(); ) {
      int c = name.codePointAt(i);
      if (c == '.') {
        if (i == tokenStart) {
          return emptyToken(name, what, tokens);
        }
        tokens++;
        tokenStart = i + 1;
      } else if (forbidden(c)) {
        return what
            + " "
            + quote(name)
            + " holds the character U+"
            + String.format("%04X", c)
            + " at "
            + i
            + " (expected: no white space and no control characters)";
      }
      i += Character.charCount(c);
    }
    if (tokenStart == name.length()) {
      return emptyToken(name, what, tokens);
    }
    if (tokens > MAX_TOKENS) {
      return what
          + " "
          + quote(name)
          + " has "
          + tokens
          + " tokens (expected: at most "
          + MAX_TOKENS
          + ")";
    }
    return null;
  }

  private static boolean forbidden(int c) {
    if (c > 0x20 && c < 0x7F) {
      return false;
    }
    int type = Character.getType(c);
    return Character.isISOControl(c)
        || Character.isWhitespace(c)
        || Character.isSpaceChar(c)
        // A lone surrogate has no encoding in UTF-8.
        || type == Character.SURROGATE;
  }

  private static String emptyToken(String name, String what, int token) {
    return what + " " + quote(name) + " has an empty token, number " + token + " (expected: none)";
  }

  /** Quotes hostile text safely: short, and without anything that a terminal would act on. */
  static String quote(String text) {
    StringBuilder shown = new StringBuilder("'");
    int n = Math.min(text.length(), 64);
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
}
