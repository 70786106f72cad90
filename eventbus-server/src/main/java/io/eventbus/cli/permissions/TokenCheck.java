package io.eventbus.cli.permissions;

import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.server.config.AuthConfig;
import io.eventbus.server.security.AccessChanges;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.Identity;
import io.eventbus.server.security.LoginMethod;
import io.eventbus.server.security.LoginOutcome;
import io.eventbus.server.security.Revocations;
import io.eventbus.server.security.SharedTokenLogin;
import io.eventbus.server.security.jwt.JwtLogin;
import java.time.Clock;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Checks a token as a bus does, but for what is revoked in a cluster. */
final class TokenCheck {
  /** Keys may have to be fetched. */
  private static final long TIMEOUT_SECONDS = 30;

  private TokenCheck() {}

  /**
   * Returns whose token it is.
   *
   * @throws CliFailure if a bus with this configuration refuses it
   */
  static Identity identity(AuthConfig config, String token, String client) {
    Credentials shown = new Credentials(token, client, false);
    SharedTokenLogin shared = config.token().read().map(SharedTokenLogin::new).orElse(null);
    if (shared != null && shared.takes(shown)) {
      return proved(shared, shown);
    }
    if (config.jwt().enabled()) {
      try (JwtLogin signed =
          JwtLogin.of(config.jwt(), new Revocations(), AccessChanges.NONE, Clock.systemUTC())) {
        if (signed.takes(shown)) {
          return proved(signed, shown);
        }
      }
    }
    throw refused("its token is neither auth.token nor one that auth.jwt.* takes");
  }

  private static Identity proved(LoginMethod method, Credentials shown) {
    LoginOutcome outcome;
    try {
      outcome = method.check(shown).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CliFailure(ExitCode.FAILED, "interrupted while the token was checked", e);
    } catch (ExecutionException | TimeoutException e) {
      throw new CliFailure(ExitCode.FAILED, "the token cannot be checked: " + e, e);
    }
    if (outcome instanceof LoginOutcome.Proved found) {
      return found.identity();
    }
    if (outcome instanceof LoginOutcome.Unavailable unavailable) {
      throw new CliFailure(ExitCode.FAILED, "the token cannot be checked: " + unavailable.reason());
    }
    throw refused("it " + ((LoginOutcome.Wrong) outcome).why().reason());
  }

  private static CliFailure refused(String why) {
    return new CliFailure(ExitCode.FAILED, "a bus refuses this client: " + why);
  }
}
