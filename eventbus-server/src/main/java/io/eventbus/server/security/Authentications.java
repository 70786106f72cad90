package io.eventbus.server.security;

import io.eventbus.base.RateLimitedLog;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Bound on the clients that wait for an {@link Authenticator}, and on how long. No failure of it
 * admits a client. Any thread.
 */
public final class Authentications {
  /** Maximum of clients that wait. */
  public static final int MAX_WAITING = 1000;

  /** Maximum time that a client waits: less than the default of {@code timeouts.hello}. */
  public static final Duration MAX_WAIT = Duration.ofSeconds(2);

  /** Maximum difference between the clock of a bus and that of an issuer of tokens. */
  public static final Duration MAX_SKEW = Duration.ofSeconds(30);

  static final String RECONNECT = "the bus cannot find out now who you are; reconnect later";

  private final Authenticator authenticator;
  private final int maxWaiting;
  private final RateLimitedLog log;
  private final AtomicInteger waiting = new AtomicInteger();

  /** Creates the bound of a bus. */
  public Authentications(Authenticator authenticator) {
    this(
        authenticator,
        MAX_WAITING,
        new RateLimitedLog(LoggerFactory.getLogger(Authentications.class)));
  }

  Authentications(Authenticator authenticator, int maxWaiting, RateLimitedLog log) {
    this.authenticator = authenticator;
    this.maxWaiting = maxWaiting;
    this.log = log;
  }

  /**
   * Begins to authenticate a client.
   *
   * @param nowNanos as {@link System#nanoTime}
   * @return the pending authentication, which may be complete already; to be abandoned if the
   *     client goes
   */
  public PendingAuthentication begin(Credentials credentials, long nowNanos) {
    CompletableFuture<Authentication> asked = ask(credentials);
    CompletableFuture<Authentication> answered =
        asked.handle(
            (answer, failure) -> {
              waiting.decrementAndGet();
              return checked(answer, failure);
            });
    return new PendingAuthentication(asked, answered, nowNanos);
  }

  private CompletableFuture<Authentication> ask(Credentials credentials) {
    if (waiting.incrementAndGet() > maxWaiting) {
      return CompletableFuture.completedFuture(
          new Authentication.Unavailable(
              RECONNECT, "more than " + maxWaiting + " clients wait for their authentication"));
    }
    try {
      return authenticator.authenticate(credentials);
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private Authentication checked(@Nullable Authentication answer, @Nullable Throwable failure) {
    Authentication checked =
        answer == null || failure != null
            ? new Authentication.Unavailable(RECONNECT, "it failed with " + failure)
            : answer;
    // A client that has gone is no failure.
    if (checked instanceof Authentication.Unavailable unavailable
        && !(failure instanceof CancellationException)) {
      log.warn("unavailable", "clients cannot be authenticated: {}", unavailable.reason());
    }
    return checked;
  }

  /** Returns the result for a client that has waited for too long. */
  static Authentication late() {
    return new Authentication.Unavailable(
        RECONNECT, "there was no answer within " + MAX_WAIT.toSeconds() + " s");
  }

  /** Returns the number of clients that wait. */
  public int waiting() {
    return waiting.get();
  }
}
