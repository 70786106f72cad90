package io.eventbus.server.config;

import java.nio.file.Path;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Who may connect, and what they see.
 *
 * @param token token that all clients share, or null for none; never printed
 * @param anonymous which clients are let in without credentials
 * @param usersFile file with users and hashes of their passwords, or null for none
 * @param certificateSubject what of a client's certificate is its name
 * @param jwt signed tokens
 * @param observe which clients may subscribe to topics of the system
 * @param block which clients may hold publishers back
 * @param resumeKeyFile file with the secret that producer numbers are signed with, or null for the
 *     default
 * @param rolesFile file that says what clients may do, or null for everything but what the two
 *     scopes say
 */
public record AuthConfig(
    @Nullable String token,
    AnonymousScope anonymous,
    @Nullable Path usersFile,
    CertificateSubject certificateSubject,
    JwtConfig jwt,
    ClientScope observe,
    ClientScope block,
    @Nullable Path resumeKeyFile,
    @Nullable Path rolesFile) {
  private static final Pattern TOKEN = Pattern.compile("[\\x21-\\x7e]{1,4096}");

  /**
   * Checks the token.
   *
   * @param token token that all clients share, or null for none; never printed
   * @param anonymous as above
   * @param usersFile as above
   * @param certificateSubject as above
   * @param jwt as above
   * @param observe which clients may subscribe to topics of the system
   * @param block which clients may hold publishers back
   * @param resumeKeyFile file with the secret that producer numbers are signed with, or null for
   *     the default
   * @param rolesFile file that says what clients may do, or null for everything but what the two
   *     scopes say
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
        + ", anonymous="
        + anonymous
        + ", usersFile="
        + usersFile
        + ", certificateSubject="
        + certificateSubject
        + ", jwt="
        + jwt
        + ", observe="
        + observe
        + ", block="
        + block
        + ", resumeKeyFile="
        + resumeKeyFile
        + ", rolesFile="
        + rolesFile
        + "]";
  }
}
