package io.eventbus.server.security;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Login with one token for all clients. Takes only the right one: others may be for another method.
 */
public final class SharedTokenLogin implements LoginMethod {
  private static final LoginOutcome PROVED =
      new LoginOutcome.Proved(Identity.nameless(AuthenticationMethod.SHARED_TOKEN, Set.of()));

  private final byte[] expected;

  /** Creates the method. */
  public SharedTokenLogin(String token) {
    this.expected = token.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public boolean takes(Credentials credentials) {
    @Nullable String token = credentials.token();
    // Takes the same time wherever the first difference is.
    return credentials.user() == null
        && token != null
        && MessageDigest.isEqual(expected, token.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public CompletableFuture<LoginOutcome> check(Credentials credentials) {
    return CompletableFuture.completedFuture(PROVED);
  }
}
