package io.eventbus.server.security;

import io.eventbus.server.config.AuthConfig;
import io.eventbus.server.config.ClientScope;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One token for all clients, or none. Answers at once. */
public final class SharedTokenAuthenticator implements Authenticator {
  private static final Authentication NO_TOKEN =
      refused("this bus wants a token in Hello.token; there was none");
  private static final Authentication WRONG_TOKEN =
      refused("the token in Hello.token is not the one that this bus expects");

  private final byte @Nullable [] expected;
  private final Authentication local;
  private final Authentication remote;

  /**
   * Makes an authenticator.
   *
   * @param token what each client has to show, null for nothing
   * @param observe which clients may subscribe to topics of the system
   * @param block who may hold publishers back
   */
  public SharedTokenAuthenticator(@Nullable String token, ClientScope observe, ClientScope block) {
    this.expected = token == null ? null : token.getBytes(StandardCharsets.UTF_8);
    this.local =
        accepted(observe, observe != ClientScope.NOBODY, block, block != ClientScope.NOBODY);
    // Whoever is connected has shown the token, if there is one.
    boolean isTrusted = block == ClientScope.LOOPBACK && token != null;
    this.remote =
        accepted(
            observe,
            observe == ClientScope.EVERYONE,
            block,
            block == ClientScope.EVERYONE || isTrusted);
  }

  /**
   * Makes the authenticator that a configuration asks for.
   *
   * @param config the section {@code auth}
   */
  public SharedTokenAuthenticator(AuthConfig config) {
    this(config.token(), config.observe(), config.block());
  }

  private Authentication accepted(
      ClientScope observe, boolean mayObserve, ClientScope block, boolean mayBlock) {
    Permissions permissions =
        new Permissions(
            Map.of(
                Action.PUBLISH,
                FilterRules.everything("no rule"),
                Action.SUBSCRIBE,
                FilterRules.everything("no rule"),
                Action.BLOCK,
                rules(mayBlock, "auth.block", block),
                Action.OBSERVE,
                rules(mayObserve, "auth.observe", observe)));
    AuthenticationMethod method =
        expected == null ? AuthenticationMethod.NONE : AuthenticationMethod.SHARED_TOKEN;
    return new Authentication.Accepted(new Principal("", "", method, permissions, null));
  }

  private static FilterRules rules(boolean all, String key, ClientScope scope) {
    String origin = key + "=" + scope.name().toLowerCase(Locale.ROOT);
    return all ? FilterRules.everything(origin) : FilterRules.nothing(origin);
  }

  private static Authentication refused(String message) {
    return new Authentication.Refused(message, "showed no token or a wrong one");
  }

  @Override
  public CompletableFuture<Authentication> authenticate(Credentials credentials) {
    return CompletableFuture.completedFuture(decide(credentials));
  }

  private Authentication decide(Credentials credentials) {
    if (expected != null) {
      if (credentials.token() == null) {
        return NO_TOKEN;
      }
      // Takes the same time wherever the first difference is.
      byte[] shown = credentials.token().getBytes(StandardCharsets.UTF_8);
      if (!MessageDigest.isEqual(expected, shown)) {
        return WRONG_TOKEN;
      }
    }
    return credentials.local() ? local : remote;
  }
}
