package io.eventbus.server.samples;

import io.eventbus.server.config.ClientScope;
import io.eventbus.server.security.AuthenticationChain;
import io.eventbus.server.security.Authentications;
import io.eventbus.server.security.ScopePolicy;
import io.eventbus.server.security.SharedTokenLogin;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Access to the buses of tests. */
public final class TestAccess {
  private TestAccess() {}

  /**
   * Returns access for everybody, to do everything; topics of the system are for clients of this
   * machine.
   */
  public static Authentications open() {
    return token(null);
  }

  /** Returns access for clients with a token. */
  public static Authentications token(@Nullable String token) {
    return new Authentications(
        new AuthenticationChain(
            token == null ? List.of() : List.of(new SharedTokenLogin(token)),
            token == null ? ClientScope.EVERYONE : ClientScope.NOBODY,
            new ScopePolicy(ClientScope.LOOPBACK, ClientScope.EVERYONE)));
  }
}
