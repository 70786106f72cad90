package io.eventbus.server.samples;

import io.eventbus.server.config.ClientScope;
import io.eventbus.server.security.Authentications;
import io.eventbus.server.security.SharedTokenAuthenticator;
import org.jspecify.annotations.Nullable;

/** Who may come to the buses of tests. */
public final class TestAccess {
  private TestAccess() {}

  /** Everybody, to do everything; topics of the system are for clients of this machine. */
  public static Authentications open() {
    return token(null);
  }

  /** Who shows a token. */
  public static Authentications token(@Nullable String token) {
    return new Authentications(
        new SharedTokenAuthenticator(token, ClientScope.LOOPBACK, ClientScope.EVERYONE));
  }
}
