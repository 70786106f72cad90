package io.eventbus.server.security;

import io.eventbus.protocol.TopicFilter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Rule of what one client may do. Immutable; any thread.
 *
 * @param source where it was written: a role, a file and a line, or a token
 * @param filter the topics, with the client's values in place of templates; null if there is no
 *     such value: then the rule is void: it allows nothing, or denies everything
 */
public record Rule(
    Effect effect, Action action, String pattern, String source, @Nullable TopicFilter filter) {

  /** Returns the rule as an operator has written it. */
  public String text() {
    return name(effect) + " " + name(action) + " " + pattern;
  }

  private static String name(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /** Returns the rule and where it was written. */
  @Override
  public String toString() {
    String text = text() + " (" + source + ")";
    if (filter != null) {
      return text;
    }
    return text + (effect == Effect.ALLOW ? ", which allows nothing" : ", which denies everything");
  }
}
