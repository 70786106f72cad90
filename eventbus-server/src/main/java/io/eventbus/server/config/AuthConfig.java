package io.eventbus.server.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Authentication of clients, and their permissions.
 *
 * @param token token that all clients share, if there is one; never printed
 * @param anonymous which clients are let in without credentials
 * @param usersFile file with users and hashes of their passwords, or null for none
 * @param certificateSubject what of a client's certificate is its name
 * @param jwt signed tokens
 * @param observe which clients may subscribe to topics of the system
 * @param block which clients may stall publishers
 * @param resumeKeyFile file with the secret that producer numbers are signed with, or null for the
 *     default
 * @param rolesFile file that says what clients may do, or null for everything but what the two
 *     scopes say
 */
public record AuthConfig(
    Secret token,
    AnonymousScope anonymous,
    @Nullable Path usersFile,
    CertificateSubject certificateSubject,
    JwtConfig jwt,
    ClientScope observe,
    ClientScope block,
    @Nullable Path resumeKeyFile,
    @Nullable Path rolesFile) {
  /**
   * Creates a token.
   *
   * @param text the token, or null
   * @param file a file that holds it, or null
   * @return the token, or that there is none
   * @throws IllegalArgumentException if it has other characters, or is given twice
   */
  public static Secret token(@Nullable String text, @Nullable Path file) {
    return new Secret(ConfigKey.AUTH_TOKEN, text, ConfigKey.AUTH_TOKEN_FILE, file, 1);
  }
}
