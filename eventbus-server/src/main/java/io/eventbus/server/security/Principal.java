package io.eventbus.server.security;

import io.eventbus.server.config.ClientQuotas;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Who a client is, as far as it has proved that, and what it may do. Immutable; any thread. Clients
 * that nothing tells apart may share one.
 *
 * @param account whose client it is; empty for the account of all that have none
 * @param subject its name in the account; empty where the method tells none
 * @param permissions what it may do
 * @param quotas how much of the bus it may use
 * @param expiresAt until when that holds; null for as long as it is connected
 */
public record Principal(
    String account,
    String subject,
    AuthenticationMethod method,
    Permissions permissions,
    ClientQuotas quotas,
    @Nullable Instant issuedAt,
    @Nullable Instant expiresAt) {
  /** A client that has proved nothing yet, and may do nothing. */
  public static final Principal UNKNOWN =
      new Principal("", "", AuthenticationMethod.NONE, Permissions.NONE, null, null);

  /**
   * Makes a client without quotas.
   *
   * @param permissions what it may do
   * @param expiresAt until when that holds
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
