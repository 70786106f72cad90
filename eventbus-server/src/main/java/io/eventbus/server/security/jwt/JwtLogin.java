package io.eventbus.server.security.jwt;

import io.eventbus.base.PrintableText;
import io.eventbus.server.config.ConfigException;
import io.eventbus.server.config.ConfigKey;
import io.eventbus.server.config.JwtConfig;
import io.eventbus.server.security.AccessChanges;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.FailedLogin;
import io.eventbus.server.security.Identity;
import io.eventbus.server.security.LoginMethod;
import io.eventbus.server.security.LoginOutcome;
import io.eventbus.server.security.Revocations;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Login with JSON Web Tokens. A token that was good before is good at once, until it expires;
 * others are checked on two threads, for which a bounded number waits.
 */
public final class JwtLogin implements LoginMethod, AutoCloseable {
  private static final int THREADS = 2;
  private static final int MAX_WAITING = 1000;

  private static final LoginOutcome BUSY =
      new LoginOutcome.Unavailable("more than " + MAX_WAITING + " tokens wait to be checked");

  /** Maximum of characters of a key's name that are logged. */
  private static final int MAX_KEY_CHARS = 64;

  private static final LoginOutcome NO_KEYS =
      new LoginOutcome.Unavailable(
          "a token names a key that is not known, and keys cannot be fetched now");

  private final JwtVerifier verifier;
  private final TokenKeys keys;
  private final @Nullable JwksSource source;
  private final Revocations revocations;
  private final VerifiedTokens verified;
  private final ThreadPoolExecutor threads;

  JwtLogin(
      JwtVerifier verifier,
      TokenKeys keys,
      @Nullable JwksSource source,
      Revocations revocations,
      Clock clock) {
    this.verifier = verifier;
    this.revocations = revocations;
    this.keys = keys;
    this.source = source;
    this.verified = new VerifiedTokens(clock);
    this.threads =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            1,
            TimeUnit.MINUTES,
            new ArrayBlockingQueue<>(MAX_WAITING),
            task -> {
              Thread thread = new Thread(task, "eventbus-tokens");
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
  }

  /**
   * Creates the method of a configuration; its keys may still be on their way.
   *
   * @param revocations checked for each token, also for one that was good before
   * @throws ConfigException if a file with keys cannot be used
   */
  public static JwtLogin of(
      JwtConfig config, Revocations revocations, AccessChanges changes, Clock clock) {
    String issuer = config.issuer();
    String audience = config.audience();
    if (issuer == null || audience == null) {
      throw new IllegalArgumentException("jwt: not enabled (expected: issuer and audience)");
    }
    List<TokenKey> fromFiles = fromFiles(config);
    JwksSource source =
        config.jwksUrl() == null
            ? null
            : new JwksSource(config.jwksUrl(), changes, System::nanoTime);
    return new JwtLogin(
        new JwtVerifier(issuer, audience, config.algorithms(), config.claims(), clock),
        new ConfiguredKeys(fromFiles, source),
        source,
        revocations,
        clock);
  }

  /**
   * Checks the files that a configuration names.
   *
   * @throws ConfigException if one cannot be used
   */
  public static void check(JwtConfig config) {
    var unused = fromFiles(config);
  }

  /** Returns a line if algorithms of a configuration have no key, unless they are its defaults. */
  public static List<String> notes(JwtConfig config) {
    List<TokenKey> keys = fromFiles(config);
    List<String> unused =
        config.algorithms().stream()
            .filter(algorithm -> keys.stream().noneMatch(key -> key.fits(algorithm)))
            .toList();
    boolean isDefault =
        String.join(",", config.algorithms()).equals(ConfigKey.AUTH_JWT_ALGORITHMS.defaultText());
    return !config.enabled() || config.jwksUrl() != null || isDefault || unused.isEmpty()
        ? List.of()
        : List.of(
            ConfigKey.AUTH_JWT_ALGORITHMS.key()
                + ": "
                + String.join(", ", unused)
                + ": there is no key of that type (see auth.jwt.secret-file and"
                + " auth.jwt.public-keys)");
  }

  private static List<TokenKey> fromFiles(JwtConfig config) {
    List<TokenKey> keys = new ArrayList<>();
    if (config.secretFile() != null) {
      keys.add(KeyFiles.secret(config.secretFile()));
    }
    if (config.publicKeys() != null) {
      keys.addAll(KeyFiles.publicKeys(config.publicKeys()));
    }
    boolean isNoneOfUse =
        config.algorithms().stream().noneMatch(a -> keys.stream().anyMatch(key -> key.fits(a)));
    if (!keys.isEmpty() && config.jwksUrl() == null && isNoneOfUse) {
      throw new ConfigException(
          List.of(
              ConfigKey.AUTH_JWT_ALGORITHMS.key()
                  + ": "
                  + String.join(",", config.algorithms())
                  + ": no key is for one of them (expected: HS… with auth.jwt.secret-file; RS…,"
                  + " PS…, ES… or EdDSA with a key of that type in auth.jwt.public-keys)"));
    }
    return keys;
  }

  @Override
  public boolean takes(Credentials credentials) {
    String token = credentials.token();
    return credentials.user() == null && token != null && JwtVerifier.hasThreeParts(token);
  }

  /** Returns the identity of a verified token: a signature cannot be guessed. */
  @Override
  public @Nullable Identity known(Credentials credentials) {
    String token = credentials.token();
    Identity found =
        token == null || token.length() > JwtVerifier.MAX_CHARS
            ? null
            : verified.find(token, keys.version());
    return found == null || isRevoked(found) ? null : found;
  }

  // Errors of the answer are the caller's.
  @SuppressWarnings("FutureReturnValueIgnored")
  @Override
  public CompletableFuture<LoginOutcome> check(Credentials credentials) {
    String token = credentials.token();
    if (token == null || token.length() > JwtVerifier.MAX_CHARS) {
      return CompletableFuture.completedFuture(
          new LoginOutcome.Wrong(
              "showed a token of more than " + JwtVerifier.MAX_CHARS + " characters"));
    }
    Identity known = verified.find(token, keys.version());
    if (known != null) {
      return CompletableFuture.completedFuture(proved(known));
    }
    CompletableFuture<LoginOutcome> answer = new CompletableFuture<>();
    begin(token, answer, null);
    return answer;
  }

  /**
   * Begins to verify a token.
   *
   * @param fresh result of looking for keys, null before that
   */
  private void begin(
      String token, CompletableFuture<LoginOutcome> answer, @Nullable Boolean fresh) {
    Runnable task =
        () -> {
          // Nobody waits for it any more where it is done.
          if (!answer.isDone()) {
            try {
              judge(token, answer, fresh);
            } catch (RuntimeException | Error e) {
              answer.completeExceptionally(
                  new IllegalStateException("checking a token failed with " + e.getClass()));
            }
          }
        };
    try {
      threads.execute(task);
    } catch (RejectedExecutionException e) {
      answer.complete(BUSY);
    }
  }

  @SuppressWarnings("FutureReturnValueIgnored")
  private void judge(
      String token, CompletableFuture<LoginOutcome> answer, @Nullable Boolean fresh) {
    Object version = keys.version();
    TokenVerdict verdict = verifier.verify(token, keys.keys());
    if (verdict instanceof TokenVerdict.Good good) {
      verified.add(token, good.identity(), version);
      answer.complete(proved(good.identity()));
    } else if (verdict instanceof TokenVerdict.Bad bad) {
      answer.complete(new LoginOutcome.Wrong(new FailedLogin(bad.reason(), "", bad.subject())));
    } else if (fresh == null) {
      // The issuer may have a new key.
      keys.lookAgain().thenAccept(found -> begin(token, answer, found));
    } else {
      // Keys that were fetched before the token was shown say nothing of it: others' tokens with
      // unknown keys may be why none are fetched now.
      answer.complete(fresh ? noKey(((TokenVerdict.UnknownKey) verdict).id()) : NO_KEYS);
    }
  }

  private LoginOutcome proved(Identity identity) {
    return isRevoked(identity)
        ? new LoginOutcome.Wrong(
            new FailedLogin(
                "showed a token that was revoked", identity.account(), identity.subject()))
        : new LoginOutcome.Proved(identity);
  }

  private static LoginOutcome noKey(String id) {
    return new LoginOutcome.Wrong(
        id.isEmpty()
            ? "showed a token for whose algorithm there is no key"
            : "showed a token that names a key that does not exist: '"
                + PrintableText.of(id, MAX_KEY_CHARS)
                + "'");
  }

  private boolean isRevoked(Identity identity) {
    Instant issued = identity.issuedAt();
    return issued != null
        && revocations.current().covers(identity.account(), identity.subject(), issued);
  }

  /** Fetches keys again if it is due; to be called every few seconds, does not block. */
  public void refresh() {
    if (source != null) {
      source.refresh();
    }
  }

  /**
   * Returns the age of the keys of the URL, while there are none the time since the start; empty if
   * no URL is configured.
   */
  public Optional<Duration> keysAge() {
    return Optional.ofNullable(source).map(JwksSource::age);
  }

  /** Ends the threads; nothing is checked any more. */
  @Override
  public void close() {
    threads.shutdownNow();
    if (source != null) {
      source.close();
    }
  }
}
