package io.eventbus.server.security;

import io.eventbus.server.config.ClientQuotas;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Client as far as it has authenticated, and what it may do. Immutable; any thread. Clients that
 * nothing tells apart may share one.
 *
 * @param account of the client; empty for the account of all that have none
 * @param subject its name in the account; empty where the method names none
 * @param expiresAt when its credentials expire; null for as long as it is connected
 */
public record Principal(
    String account,
    String subject,
    AuthenticationMethod method,
    Permissions permissions,
    ClientQuotas quotas,
    @Nullable Instant issuedAt,
    @Nullable Instant expiresAt) {
  /** Client that has not authenticated yet, and may do nothing. */
  public static final Principal UNKNOWN =
      new Principal("", "", AuthenticationMethod.NONE, Permissions.NONE, null, null);

  /**
   * Creates a client without quotas.
   *
   * @param expiresAt when its credentials expire
   */
  public Principal(
      String account,
      String subject,
      AuthenticationMethod method,
      Permissions permissions,
      @Nullable Instant issuedAt,
      @Nullable Instant expiresAt) {
    this(account, subject, method, permissions, ClientQuotas.NONE, issuedAt, expiresAt);
  }
}
