package io.eventbus.server.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Access to the administration port, and its encryption. Whether files can be read shows when the
 * bus starts.
 *
 * @param auth when operators have to say who they are
 * @param token with it anybody is an administrator
 * @param account the account of users that are operators, or null for none
 * @param metricsOpen whether metrics are there for everybody
 * @param certificate PEM file with the certificate chain, or null for no TLS
 * @param key PEM file with the private key, or null for no TLS
 * @param plaintext whether a port without TLS may be reached from other machines
 */
public record AdminAccessConfig(
    AdminAuth auth,
    Secret token,
    @Nullable String account,
    boolean metricsOpen,
    @Nullable Path certificate,
    @Nullable Path key,
    boolean plaintext) {
  /** Minimum length of the token, in characters: too long to be guessed. */
  public static final int MIN_TOKEN_LENGTH = 16;

  /**
   * Checks values that belong together.
   *
   * @param auth when operators have to say who they are
   * @param token with it anybody is an administrator
   * @param account the account of users that are operators, or null for none
   * @param metricsOpen whether metrics are there for everybody
   * @param certificate PEM file with the certificate chain, or null for no TLS
   * @param key PEM file with the private key, or null for no TLS
   * @param plaintext whether a port without TLS may be reached from other machines
   * @throws IllegalArgumentException if only one of certificate and key is given, or the account is
   *     none
   */
  public AdminAccessConfig {
    if (account != null) {
      TextCheck.name(ConfigKey.ADMIN_ACCOUNT, account);
    }
    if ((certificate == null) != (key == null)) {
      throw new IllegalArgumentException(
          certificate == null
              ? "admin.tls-certificate: none (expected: a file, because admin.tls-key is set)"
              : "admin.tls-key: none (expected: a file, because admin.tls-certificate is set)");
    }
  }

  /**
   * Creates the access to a port that only this machine reaches: without any login.
   *
   * @return what is so by default
   */
  public static AdminAccessConfig open() {
    return new AdminAccessConfig(AdminAuth.AUTO, token(null, null), null, false, null, null, false);
  }

  /**
   * Creates a token.
   *
   * @param text the token, or null
   * @param file a file that holds it, or null
   * @return the token, or that there is none
   * @throws IllegalArgumentException if it is too short, has other characters, or is given twice
   */
  public static Secret token(@Nullable String text, @Nullable Path file) {
    return new Secret(
        ConfigKey.ADMIN_TOKEN, text, ConfigKey.ADMIN_TOKEN_FILE, file, MIN_TOKEN_LENGTH);
  }

  /**
   * Returns whether operators connect with TLS.
   *
   * @return true when certificate and key are set
   */
  public boolean encrypted() {
    return certificate != null;
  }
}
