package io.eventbus.server.admin;

import io.eventbus.server.config.AdminConfig;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Identity;
import io.eventbus.server.security.LoginMethod;
import io.eventbus.server.security.LoginOutcome;
import io.eventbus.server.security.Origin;
import io.eventbus.server.security.PermissionPolicy;
import io.eventbus.server.security.Permissions;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Finds out who calls the administration port: by the token of administrators, a user's password,
 * or a signed token. Any thread.
 */
final class AdminLogin {
  /** Maximum length of a header: more than any useful token. */
  private static final int MAX_HEADER = 8_192;

  private static final long TIMEOUT_SECONDS = 3;
  private static final String BEARER = "bearer ";
  private static final String BASIC = "basic ";

  private final boolean needed;
  private final @Nullable String account;
  private final byte @Nullable [] token;
  private volatile List<LoginMethod> methods = List.of();
  private volatile PermissionPolicy permissions = PermissionPolicy.NOTHING;

  /**
   * Reads the token.
   *
   * @throws io.eventbus.server.config.ConfigException if its file cannot be used
   */
  AdminLogin(AdminConfig config) {
    needed = config.loginNeeded();
    account = config.access().account();
    token =
        config.access().token().read().map(t -> t.getBytes(StandardCharsets.UTF_8)).orElse(null);
  }

  /** Adds login methods and permissions from now on. */
  void serve(List<LoginMethod> operators, PermissionPolicy policy) {
    permissions = policy;
    methods = List.copyOf(operators);
  }

  /**
   * Returns the caller if that takes no time and cannot be guessed: with the token of
   * administrators, with a signed token that was right before, or without credentials. So no crowd
   * of guessers keeps such callers waiting.
   *
   * @param authorization the header {@code Authorization}, null for none
   * @return nothing if {@link #find} has to be called
   */
  Optional<AdminCaller> findAtOnce(@Nullable String authorization) {
    if (!needed) {
      return Optional.of(AdminCaller.UNASKED);
    }
    if (authorization == null) {
      return Optional.of(AdminCaller.UNKNOWN);
    }
    if (!starts(authorization, BEARER)) {
      return Optional.empty();
    }
    Credentials shown = bearer(authorization);
    if (isToken(String.valueOf(shown.token()))) {
      return Optional.of(new AdminCaller("admin.token", AdminRole.ADMIN, null));
    }
    for (LoginMethod method : methods) {
      if (method.takes(shown)) {
        return Optional.ofNullable(method.known(shown)).map(this::caller);
      }
    }
    return Optional.empty();
  }

  /**
   * Checks credentials that {@link #findAtOnce} does not know. Does not wait.
   *
   * @param origin the caller's address
   * @return the outcome; after {@value #TIMEOUT_SECONDS} s, or on a failure, that they cannot be
   *     checked now
   */
  CompletableFuture<LoginOutcome> find(String authorization, Origin origin) {
    Credentials shown =
        starts(authorization, BEARER)
            ? bearer(authorization)
            : starts(authorization, BASIC)
                ? basic(authorization.substring(BASIC.length()).strip(), origin)
                : null;
    return shown == null ? wrong() : ask(shown);
  }

  private static CompletableFuture<LoginOutcome> wrong() {
    return CompletableFuture.completedFuture(new LoginOutcome.Wrong("showed what is for no login"));
  }

  private static boolean starts(String authorization, String scheme) {
    return authorization.length() <= MAX_HEADER
        && authorization.regionMatches(true, 0, scheme, 0, scheme.length());
  }

  private static Credentials bearer(String authorization) {
    return new Credentials(authorization.substring(BEARER.length()).strip(), "", false);
  }

  private boolean isToken(String shown) {
    // Takes the same time wherever the first difference is.
    return token != null && MessageDigest.isEqual(token, shown.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns the credentials of a user with a password; null for anything else. */
  private static @Nullable Credentials basic(String shown, Origin origin) {
    String pair;
    try {
      pair = new String(Base64.getDecoder().decode(shown), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      // No Base64.
      return null;
    }
    int colon = pair.indexOf(':');
    return colon <= 0
        ? null
        : new Credentials(
            pair.substring(0, colon), pair.substring(colon + 1), null, "", false, origin);
  }

  private CompletableFuture<LoginOutcome> ask(Credentials credentials) {
    for (LoginMethod method : methods) {
      if (method.takes(credentials)) {
        CompletableFuture<LoginOutcome> asked = method.check(credentials);
        return asked
            .copy()
            .orTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS)
            .whenComplete(
                (outcome, failure) -> {
                  if (failure != null) {
                    asked.cancel(false);
                  }
                })
            .exceptionally(failure -> new LoginOutcome.Unavailable("cannot be checked now"));
      }
    }
    return wrong();
  }

  /**
   * Returns the caller of an identity. A role of another account, or of none, is one of an
   * application: it means nothing here.
   */
  AdminCaller caller(Identity identity) {
    boolean ofOperators = identity.account().equals(account);
    AdminRole role =
        Arrays.stream(AdminRole.values())
            .filter(each -> ofOperators && identity.roles().contains(each.toString()))
            .reduce(AdminRole.NONE, (lower, higher) -> higher);
    return new AdminCaller(identity.subject(), role, identity);
  }

  /**
   * Returns the filters whose journals a caller manages in its account without being an operator;
   * for others rules that allow nothing.
   */
  FilterRules journals(AdminCaller caller) {
    Identity identity = caller.identity();
    return caller.role() != AdminRole.NONE || identity == null
        ? Permissions.NONE.of(Action.JOURNAL)
        : permissions.permissions(identity, new Credentials(null, "", false)).of(Action.JOURNAL);
  }

  /** Returns the values of {@code WWW-Authenticate}. */
  List<String> challenges() {
    return methods.isEmpty()
        ? List.of("Bearer realm=\"eventbus\"")
        : List.of("Bearer realm=\"eventbus\"", "Basic realm=\"eventbus\", charset=\"UTF-8\"");
  }
}
