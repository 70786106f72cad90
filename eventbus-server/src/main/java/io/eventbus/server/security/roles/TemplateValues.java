package io.eventbus.server.security.roles;

import io.eventbus.protocol.Topic;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Values of templates in rules, for one client. */
record TemplateValues(String subject, String account, String client, Map<String, String> claims) {
  /** Values of an unknown client. */
  static final TemplateValues NONE = new TemplateValues("", "", "", Map.of());

  private static final String CLAIM = "claim:";

  /** Returns what is wrong with the name of a template; null if nothing. */
  static @Nullable String problem(String name) {
    return switch (name) {
      case "sub", "account", "client" -> null;
      default ->
          name.startsWith(CLAIM) && name.length() > CLAIM.length()
              ? null
              : "{" + name + "} (expected: {sub}, {account}, {client} or {claim:NAME})";
    };
  }

  /**
   * Returns the value of a template, or null if it has none that is one token of a topic: with a
   * dot, a wildcard or a {@code $} a rule would be about other topics than its text says.
   */
  @Nullable String of(String name) {
    String value =
        switch (name) {
          case "sub" -> subject;
          case "account" -> account;
          case "client" -> client;
          default -> claims.get(name.substring(CLAIM.length()));
        };
    boolean isToken =
        value != null
            && value.indexOf('.') < 0
            && value.indexOf(Topic.SYSTEM) < 0
            && Topic.formProblem(value) == null;
    return isToken ? value : null;
  }
}
