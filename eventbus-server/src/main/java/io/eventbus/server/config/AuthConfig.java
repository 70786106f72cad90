package io.eventbus.server.config;

import java.nio.file.Path;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Who may connect, and what they see.
 *
 * @param token token that every client must show, or null to let everybody in; never printed
 * @param observe which clients may subscribe to topics of the system
 * @param block which clients may hold publishers back
 * @param resumeKeyFile file with the secret that producer numbers are signed with, or null for the
 *     default
 */
public record AuthConfig(
    @Nullable String token, ClientScope observe, ClientScope block, @Nullable Path resumeKeyFile) {
  private static final Pattern TOKEN = Pattern.compile("[\\x21-\\x7e]{1,4096}");

  /**
   * Checks the token.
   *
   * @param token token that every client must show, or null to let everybody in; never printed
   * @param observe which clients may subscribe to topics of the system
   * @param block which clients may hold publishers back
   * @param resumeKeyFile file with the secret that producer numbers are signed with, or null for
   *     the default
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
        + ", observe="
        + observe
        + ", block="
        + block
        + ", resumeKeyFile="
        + resumeKeyFile
        + "]";
  }
}
