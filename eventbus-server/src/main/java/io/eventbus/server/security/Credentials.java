package io.eventbus.server.security;

import java.security.cert.X509Certificate;
import org.jspecify.annotations.Nullable;

/**
 * Credentials of a client, and what the bus knows of it without being told.
 *
 * @param user from {@code Hello}, null for none
 * @param token from {@code Hello}, with a user its password, null for none; never printed
 * @param certificate of its TLS connection, of an authority that the bus trusts; null for none
 * @param client name that the client gives itself; empty for none
 * @param origin its address; null where no limits for addresses hold
 */
public record Credentials(
    @Nullable String user,
    @Nullable String token,
    @Nullable X509Certificate certificate,
    String client,
    boolean local,
    @Nullable Origin origin) {
  /**
   * Creates credentials of a client for which no limits for addresses hold.
   *
   * @param user from {@code Hello}, null for none
   * @param token from {@code Hello}, null for none
   * @param certificate null for none
   * @param client name that the client gives itself; empty for none
   */
  public Credentials(
      @Nullable String user,
      @Nullable String token,
      @Nullable X509Certificate certificate,
      String client,
      boolean local) {
    this(user, token, certificate, client, local, null);
  }

  /**
   * Creates credentials with a token, or without any.
   *
   * @param token from {@code Hello}, null for none
   * @param client name that the client gives itself; empty for none
   */
  public Credentials(@Nullable String token, String client, boolean local) {
    this(null, token, null, client, local, null);
  }

  /** Prints the record without its secret. */
  @Override
  public String toString() {
    return "Credentials[user="
        + user
        + ", token="
        + (token == null ? "none" : "***")
        + ", certificate="
        + (certificate == null ? "none" : "shown")
        + ", client="
        + client
        + ", local="
        + local
        + "]";
  }
}
