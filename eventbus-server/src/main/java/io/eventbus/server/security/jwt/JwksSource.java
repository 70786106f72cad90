package io.eventbus.server.security.jwt;

import io.eventbus.base.PrintableText;
import io.eventbus.base.RateLimitedLog;
import io.eventbus.server.config.ConfigKey;
import io.eventbus.server.security.AccessChanges;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keys that are fetched from a URL, and fetched again before they are too old. While the other end
 * cannot be reached the keys stay for a day. Nothing here blocks. Any thread.
 */
final class JwksSource implements AutoCloseable {
  static final Duration MAX_FETCH = Duration.ofSeconds(5);

  /** Pause between a fetch and the first one for an unknown key, or after a failure. */
  static final Duration FIRST_PAUSE = Duration.ofSeconds(1);

  /** Longest pause: each is twice the one before while no fetch brings other keys. */
  static final Duration MAX_PAUSE = Duration.ofSeconds(30);

  static final Duration SOONEST = Duration.ofMinutes(5);
  static final Duration LATEST = Duration.ofHours(1);
  static final Duration STALE = Duration.ofHours(24);

  private static final int MAX_NAMED = 10;
  private static final Logger LOG = LoggerFactory.getLogger(JwksSource.class);
  private static final Pattern MAX_AGE =
      Pattern.compile("(?:^|[,\\s])max-age=\"?(\\d{1,9})", Pattern.CASE_INSENSITIVE);

  private final URI url;
  private final AccessChanges changes;
  private final LongSupplier nanoTime;
  private final HttpClient http;
  private final RateLimitedLog log = new RateLimitedLog(LOG);

  private final long madeNanos;

  // Guarded by this, but for reading.
  private volatile @Nullable Fetched fetched;
  private @Nullable CompletableFuture<Boolean> underWay;
  private long beganNanos;
  private long dueNanos;
  private long pauseNanos = FIRST_PAUSE.toNanos();
  private boolean closed;

  /**
   * Fetched keys with their time; the version is the same object as long as the keys are the same.
   */
  private record Fetched(List<TokenKey> keys, long nanos, Object version) {}

  /** Fetch that brought no keys; the message is for the log. */
  private static final class FetchException extends RuntimeException {
    private static final long serialVersionUID = 1;

    FetchException(String message) {
      super(message, null, false, false);
    }
  }

  /** Begins to fetch. */
  JwksSource(URI url, AccessChanges changes, LongSupplier nanoTime) {
    this.url = url;
    this.changes = changes;
    this.nanoTime = nanoTime;
    this.http =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(MAX_FETCH)
            .build();
    this.madeNanos = nanoTime.getAsLong();
    this.beganNanos = nanoTime.getAsLong() - SOONEST.toNanos();
    var unused = lookAgain();
  }

  /** Returns the keys, none where there were none yet or they are too old. */
  List<TokenKey> keys() {
    Fetched now = fetched;
    return now == null || nanoTime.getAsLong() - now.nanos() > STALE.toNanos()
        ? List.of()
        : now.keys();
  }

  /** Returns the age of the keys; while there are none, the time since this began. */
  Duration age() {
    Fetched now = fetched;
    return Duration.ofNanos(nanoTime.getAsLong() - (now == null ? madeNanos : now.nanos()));
  }

  /** Returns another object whenever other keys were fetched. */
  Object version() {
    Fetched now = fetched;
    return now == null ? this : now.version();
  }

  /** Fetches if it is due. */
  void refresh() {
    synchronized (this) {
      if (underWay != null || nanoTime.getAsLong() - dueNanos < 0) {
        return;
      }
    }
    var unused = lookAgain();
  }

  /**
   * Fetches, but not again within a pause that grows while no fetch brings other keys: an issuer
   * may sign with a new key as soon as it has published it, and tokens that name unknown keys must
   * not make the bus fetch all the time.
   *
   * @return completed when the current fetch has ended, or at once; never fails. With true if the
   *     keys were fetched by a request that was sent after the call
   */
  synchronized CompletableFuture<Boolean> lookAgain() {
    if (underWay != null) {
      // The other end may have answered already, without a key that has come since.
      return underWay.thenApply(fresh -> false);
    }
    long now = nanoTime.getAsLong();
    if (closed || now - beganNanos < pauseNanos) {
      return CompletableFuture.completedFuture(false);
    }
    if (now - beganNanos >= SOONEST.toNanos()) {
      pauseNanos = FIRST_PAUSE.toNanos();
    } else {
      pauseNanos = Math.min(2 * pauseNanos, MAX_PAUSE.toNanos());
    }
    beganNanos = now;
    dueNanos = now + pauseNanos;
    CompletableFuture<Boolean> ended = new CompletableFuture<>();
    underWay = ended;
    try {
      fetch(ended);
    } catch (RuntimeException e) {
      // Or nothing would ever be fetched again.
      underWay = null;
      onEnd(null, e);
      ended.complete(false);
    }
    return ended;
  }

  // The request's end is acted on here, and nothing else comes of it.
  @SuppressWarnings("FutureReturnValueIgnored")
  private void fetch(CompletableFuture<Boolean> ended) {
    HttpRequest request =
        HttpRequest.newBuilder(url)
            .timeout(MAX_FETCH)
            .header("Accept", "application/json")
            .GET()
            .build();
    CompletableFuture<HttpResponse<byte[]>> response =
        http.sendAsync(request, info -> new BoundedBody(KeyFiles.MAX_BYTES));
    // The request's own time-out ends with the head of the answer.
    response
        .copy()
        .orTimeout(MAX_FETCH.toMillis(), TimeUnit.MILLISECONDS)
        .whenComplete(
            (answer, failure) -> {
              response.cancel(true);
              boolean fresh = false;
              try {
                fresh = onEnd(answer, failure);
              } finally {
                synchronized (this) {
                  underWay = null;
                }
                ended.complete(fresh);
              }
            });
  }

  /** Takes the keys, if they came. */
  private boolean onEnd(@Nullable HttpResponse<byte[]> answer, @Nullable Throwable failure) {
    try {
      if (answer == null || failure != null) {
        throw new FetchException(String.valueOf(failure));
      }
      if (answer.statusCode() != 200) {
        throw new FetchException("status " + answer.statusCode() + " (expected: 200)");
      }
      KeySet.Parsed parsed = KeySet.parse(new String(answer.body(), StandardCharsets.UTF_8));
      List<TokenKey> keys = parsed.keys();
      if (keys.isEmpty()) {
        throw new FetchException("no key for any algorithm");
      }
      long now = nanoTime.getAsLong();
      Duration pause = pause(answer.headers().firstValue("Cache-Control").orElse(""));
      boolean changed = false;
      boolean isFirst;
      synchronized (this) {
        Fetched before = fetched;
        isFirst = before == null;
        Object version = new Object();
        if (before != null) {
          changed = !Set.copyOf(before.keys()).equals(Set.copyOf(keys));
          version = changed ? version : before.version();
        }
        if (changed) {
          pauseNanos = FIRST_PAUSE.toNanos();
        }
        fetched = new Fetched(keys, now, version);
        dueNanos = now + pause.toNanos();
      }
      if (changed) {
        LOG.info("the keys of tokens from {} have changed: {}", url, names(keys));
        changes.changed(ConfigKey.AUTH_JWT_JWKS_URL.key(), names(keys));
      }
      if (!parsed.leftOut().isEmpty()) {
        log.warn(
            "left out",
            "keys of tokens from {} that are left out: {}",
            url,
            String.join(
                ", ", parsed.leftOut().subList(0, Math.min(parsed.leftOut().size(), MAX_NAMED))));
      }
      if (isFirst) {
        LOG.info("fetched the keys of tokens from {}: {}", url, names(keys));
      } else {
        LOG.debug("fetched {} keys of tokens from {}", keys.size(), url);
      }
      return true;
    } catch (FetchException | IllegalArgumentException e) {
      log.warn(
          "fetch",
          "keys of tokens could not be fetched from {}: {}; those that are there hold for {} hours",
          url,
          String.valueOf(e.getMessage()),
          STALE.toHours());
      return false;
    }
  }

  private static String names(List<TokenKey> keys) {
    return keys.size()
        + " keys: "
        + keys.stream()
            .limit(MAX_NAMED)
            .map(key -> key.id() == null ? "one without a name" : PrintableText.of(key.id(), 64))
            .collect(Collectors.joining(", "));
  }

  /** Returns half of how long an answer is fresh (RFC 9111, section 5.2.2.1), within bounds. */
  static Duration pause(String cacheControl) {
    Matcher age = MAX_AGE.matcher(cacheControl);
    if (!age.find()) {
      return SOONEST;
    }
    Duration half = Duration.ofSeconds(Long.parseLong(age.group(1)) / 2);
    if (half.compareTo(SOONEST) < 0) {
      return SOONEST;
    }
    return half.compareTo(LATEST) > 0 ? LATEST : half;
  }

  @Override
  public synchronized void close() {
    closed = true;
  }
}
