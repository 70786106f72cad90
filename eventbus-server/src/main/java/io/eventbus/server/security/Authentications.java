package io.eventbus.server.security;

import io.eventbus.server.log.RateLimitedLog;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Asks an {@link Authenticator}, and bounds how many clients wait for its answers and for how long.
 * Whatever goes wrong with it lets no client in. Any thread.
 */
public final class Authentications {
  /** The most clients that wait. */
  public static final int MAX_WAITING = 1000;

  /** For how long a client waits: less than the default of {@code timeouts.hello}. */
  public static final Duration MAX = Duration.ofSeconds(2);

  /** By how much the clock of a bus may differ from that of whoever issues tokens. */
  public static final Duration MAX_SKEW = Duration.ofSeconds(30);

  static final String RECONNECT = "the bus cannot find out now who you are; reconnect later";

  private final Authenticator authenticator;
  private final int mostWaiting;
  private final RateLimitedLog log;
  private final AtomicInteger waiting = new AtomicInteger();

  /** Makes one for a bus. */
  public Authentications(Authenticator authenticator) {
    this(
        authenticator,
        MAX_WAITING,
        new RateLimitedLog(LoggerFactory.getLogger(Authentications.class)));
  }

  Authentications(Authenticator authenticator, int mostWaiting, RateLimitedLog log) {
    this.authenticator = authenticator;
    this.mostWaiting = mostWaiting;
    this.log = log;
  }

  /**
   * Asks who a client is.
   *
   * @param nowNanos as {@link System#nanoTime}
   * @return the question, which may be answered already; to be abandoned if the client goes
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
    if (waiting.incrementAndGet() > mostWaiting) {
      return CompletableFuture.completedFuture(
          new Authentication.Unavailable(
              RECONNECT,
              "more than " + mostWaiting + " clients wait to hear whether they are let in"));
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

  /** What a client hears that has waited for too long. */
  static Authentication late() {
    return new Authentication.Unavailable(
        RECONNECT, "there was no answer within " + MAX.toSeconds() + " s");
  }

  /**
   * Returns how many clients wait.
   *
   * @return 0 or more
   */
  public int waiting() {
    return waiting.get();
  }
}
