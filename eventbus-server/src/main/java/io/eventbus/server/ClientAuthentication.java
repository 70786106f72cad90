package io.eventbus.server;

import io.eventbus.server.config.AuthConfig;
import io.eventbus.server.config.ClientScope;
import io.eventbus.server.security.AuthenticationChain;
import io.eventbus.server.security.Authenticator;
import io.eventbus.server.security.LoginMethod;
import io.eventbus.server.security.PermissionPolicy;
import io.eventbus.server.security.ScopePolicy;
import io.eventbus.server.security.SharedTokenLogin;
import java.util.ArrayList;
import java.util.List;

/** Puts together how a bus finds out who its clients are, and what they may do. */
final class ClientAuthentication {
  private ClientAuthentication() {}

  static Authenticator of(AuthConfig config) {
    List<LoginMethod> methods = new ArrayList<>();
    if (config.token() != null) {
      methods.add(new SharedTokenLogin(config.token()));
    }
    ClientScope anonymous = methods.isEmpty() ? ClientScope.EVERYONE : ClientScope.NOBODY;
    return new AuthenticationChain(methods, anonymous, policy(config));
  }

  private static PermissionPolicy policy(AuthConfig config) {
    return new ScopePolicy(config);
  }
}
