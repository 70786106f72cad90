package io.eventbus.server.config;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Who may connect, and what they see.
 *
 * @param token token that every client must show, or null to let everybody in; never printed
 * @param systemTopics whether clients may subscribe to topics that start with {@code $}
 */
public record AuthConfig(@Nullable String token, boolean systemTopics) {
  private static final Pattern TOKEN = Pattern.compile("[\\x21-\\x7e]{1,4096}");

  /**
   * Checks the token.
   *
   * @param token token that every client must show, or null to let everybody in; never printed
   * @param systemTopics whether clients may subscribe to topics that start with {@code $}
   * @throws IllegalArgumentException if the token is empty, too long or has other characters
   */
  public AuthConfig {
    if (token != null) {
      TextCheck.matches(ConfigKey.AUTH_TOKEN, token, TOKEN);
    }
  }

  /**
   * Prints the record without its secret.
   *
   * @return text with {@code ***} in place of the token
   */
  @Override
  public String toString() {
    return "AuthConfig[token="
        + (token == null ? "none" : "***")
        + ", systemTopics="
        + systemTopics
        + "]";
  }
}
