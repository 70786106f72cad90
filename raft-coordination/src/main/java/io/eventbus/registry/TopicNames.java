package io.eventbus.registry;

/**
 * Rules for the name of a configured topic: those of the protocol, independent of the Java runtime.
 */
final class TopicNames {
  private static final int MAX_BYTES = 255;
  private static final int MAX_TOKENS = 16;

  private TopicNames() {}

  static void check(String name) {
    RegistryChecks.text("topic", name, 1, MAX_BYTES);
    if (name.charAt(0) == '$') {
      throw RegistryChecks.illegal("topic", name, "no topic of the system");
    }
    int tokens = 1;
    int tokenStart = 0;
    for (int i = 0; i < name.length(); ) {
      int c = name.codePointAt(i);
      if (c == '.') {
        if (i == tokenStart) {
          throw RegistryChecks.illegal("topic", name, "no empty token");
        }
        tokens++;
        tokenStart = i + 1;
      } else if (c == '*' || c == '>' || RegistryChecks.isSpace(c)) {
        throw RegistryChecks.illegal("topic", name, "no wildcard and no white space");
      }
      i += Character.charCount(c);
    }
    if (tokenStart == name.length()) {
      throw RegistryChecks.illegal("topic", name, "no empty token");
    }
    if (tokens > MAX_TOKENS) {
      throw RegistryChecks.illegal(
          "topic", name, "at most " + MAX_TOKENS + " tokens, not " + tokens);
    }
  }
}
