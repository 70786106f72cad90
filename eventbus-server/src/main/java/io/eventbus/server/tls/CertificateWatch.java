package io.eventbus.server.tls;

import io.eventbus.base.RateLimitedLog;
import io.eventbus.base.Schedules;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.tls.TlsSource.Look;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watch that reads the files of TLS every {@value #INTERVAL_SECONDS} s, on a thread of its own, and
 * on request. Any thread.
 */
public final class CertificateWatch implements AutoCloseable {
  static final int INTERVAL_SECONDS = 30;

  private static final Logger LOG = LoggerFactory.getLogger(CertificateWatch.class);

  private final List<TlsSource> sources;
  private final Advisories advisories;
  private final Clock clock;
  private final RateLimitedLog expired =
      new RateLimitedLog(LOG, System::nanoTime, Duration.ofDays(1));
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread made = new Thread(task, "eventbus-certificates");
            made.setDaemon(true);
            return made;
          });

  /** Creates a watch that has not begun. */
  public CertificateWatch(List<TlsSource> sources, Advisories advisories, Clock clock) {
    this.sources = List.copyOf(sources);
    this.advisories = advisories;
    this.clock = clock;
  }

  /** Begins to look; once. */
  public void start() {
    if (!sources.isEmpty()) {
      var unused =
          thread.scheduleWithFixedDelay(
              Schedules.guarded(LOG, "looking at the files of TLS", this::look),
              0,
              INTERVAL_SECONDS,
              TimeUnit.SECONDS);
    }
  }

  /** Checks all files now, on the caller's thread: reads files, and takes milliseconds. */
  public void look() {
    Instant now = clock.instant();
    for (TlsSource source : sources) {
      Look look = source.look(now);
      if (look instanceof Look.Taken taken) {
        Instant expiresAt = taken.material().expiresAt();
        LOG.info(
            "New connections get another certificate ({}): {}, valid until {}",
            source.use(),
            taken.material().subject(),
            expiresAt);
        advisories.tell(
            new Advisory.CertificateChanged(source.use(), taken.material().subject(), expiresAt));
      } else if (look instanceof Look.Refused refused) {
        LOG.warn(
            "The changed files of TLS ({}) cannot be used, and the certificate that is valid until"
                + " {} stays: {}",
            source.use(),
            source.current().expiresAt(),
            refused.reason());
        advisories.tell(new Advisory.CertificateRefused(source.use(), refused.reason()));
      }
      tellExpired(source, now);
    }
  }

  private void tellExpired(TlsSource source, Instant now) {
    if (now.isAfter(source.current().expiresAt())) {
      expired.warn(
          source.use(),
          "The certificate in use ({}), {}, has expired at {}: who checks it does not connect",
          source.use(),
          source.current().subject(),
          source.current().expiresAt());
    }
  }

  /**
   * Returns the seconds until the certificates in use expire, by use; negative if one has expired.
   */
  public Map<String, Long> secondsToExpiry() {
    Map<String, Long> seconds = new TreeMap<>();
    Instant now = clock.instant();
    for (TlsSource source : sources) {
      seconds.put(source.use(), Duration.between(now, source.current().expiresAt()).toSeconds());
    }
    return seconds;
  }

  /** Stops watching. */
  @Override
  public void close() {
    thread.shutdownNow();
  }
}
