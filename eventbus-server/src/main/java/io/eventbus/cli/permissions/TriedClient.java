package io.eventbus.cli.permissions;

import io.eventbus.cli.console.Text;
import io.eventbus.server.config.ClientQuotas;
import io.eventbus.server.config.Quotas;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.Identity;
import io.eventbus.server.security.PermissionPolicy;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.QuotaPolicy;
import io.eventbus.server.security.ScopePolicy;
import io.eventbus.server.security.roles.RolePolicy;
import io.eventbus.server.security.roles.Roles;
import io.eventbus.server.security.roles.TokenRules;
import java.io.PrintWriter;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A client as a bus would take it, from another machine.
 *
 * @param permissions what it may do
 * @param quotas how much of the bus it may use
 */
record TriedClient(Permissions permissions, ClientQuotas quotas) {
  /**
   * Puts together what decides.
   *
   * @param roles what the roles file says; null where there is none, which only a configuration may
   * @param server the configuration; null where only a roles file is tried out
   * @param name how the client calls itself
   * @param err told of roles of the client that the file does not have
   */
  static TriedClient of(
      @Nullable Roles roles,
      @Nullable ServerConfig server,
      Identity identity,
      String name,
      PrintWriter err) {
    PermissionPolicy permissions = (anybody, shown) -> Permissions.NONE;
    QuotaPolicy quotas = QuotaPolicy.NONE;
    if (roles != null) {
      boolean isForeign = server != null && server.auth().jwt().claims().roles() != null;
      Set<String> told = new HashSet<>();
      RolePolicy policy =
          new RolePolicy(
              roles,
              isForeign,
              (role, file) -> {
                if (told.add(role)) {
                  err.println(unknown(role, file));
                }
              });
      permissions = policy;
      quotas = policy;
    } else if (server != null) {
      permissions = new ScopePolicy(server.auth());
    }
    if (server != null) {
      quotas = quotas.over(server.quotas());
    }
    ClientQuotas ofToken = new ClientQuotas(identity.quotas(), Quotas.NONE);
    return new TriedClient(
        new TokenRules(permissions).permissions(identity, new Credentials(null, name, false)),
        ofToken.over(quotas.quotas(identity)));
  }

  private static String unknown(String role, Roles file) {
    return "eventbus: the client has the role "
        + Text.printable(role)
        + ", which "
        + file.fileName()
        + " does not have: it allows nothing (expected: "
        + String.join(", ", file.names())
        + ")";
  }
}
