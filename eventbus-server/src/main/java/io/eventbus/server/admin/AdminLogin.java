package io.eventbus.server.admin;

import io.eventbus.server.config.AdminConfig;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Finds out who calls the administration port. Immutable; any thread. */
final class AdminLogin {
  /** More than any token that is sent for a good reason. */
  private static final int MAX_HEADER = 8_192;

  private static final String SCHEME = "bearer ";

  private final boolean needed;
  private final byte @Nullable [] token;

  /**
   * Reads the token.
   *
   * @throws io.eventbus.server.config.ConfigException if its file cannot be used
   */
  AdminLogin(AdminConfig config) {
    needed = config.loginNeeded();
    token =
        config.access().token().read().map(t -> t.getBytes(StandardCharsets.UTF_8)).orElse(null);
  }

  /**
   * Says who calls.
   *
   * @param authorization the header {@code Authorization}, null for none
   * @return nothing if it shows credentials that are wrong
   */
  Optional<Caller> find(@Nullable String authorization) {
    if (!needed) {
      return Optional.of(Caller.UNASKED);
    }
    if (authorization == null) {
      return Optional.of(Caller.UNKNOWN);
    }
    if (authorization.length() > MAX_HEADER
        || !authorization.toLowerCase(Locale.ROOT).startsWith(SCHEME)) {
      return Optional.empty();
    }
    byte[] shown =
        authorization.substring(SCHEME.length()).strip().getBytes(StandardCharsets.UTF_8);
    // Takes the same time wherever the first difference is.
    return token != null && MessageDigest.isEqual(token, shown)
        ? Optional.of(new Caller("admin.token", AdminRole.ADMIN))
        : Optional.empty();
  }

  /** What {@code WWW-Authenticate} says. */
  String challenge() {
    return "Bearer realm=\"eventbus\"";
  }
}
