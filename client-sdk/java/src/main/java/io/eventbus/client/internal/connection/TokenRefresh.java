package io.eventbus.client.internal.connection;

import io.eventbus.client.EventBusException;
import io.eventbus.client.internal.base.MicroClock;
import io.eventbus.client.internal.base.Notifier;
import io.eventbus.client.internal.base.Scheduler;
import io.eventbus.protocol.DurationText;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Refresh of the token: presents a new one before that of a connection expires. A failure is
 * retried, later each time, until the bus ends the connection; the next one begins with a new
 * token. Confined to the conductor.
 */
final class TokenRefresh {
  /**
   * Part of a token's life after which it is replaced at the latest; at the earliest a tenth
   * before.
   */
  private static final double MAX_LIFE_PART = 0.8;

  private static final double JITTER = 0.1;

  /** Minimum time between two refreshes, however short a token's life is. */
  static final Duration MIN_INTERVAL = Duration.ofSeconds(1);

  /** Assumed life of a token that by this machine's clock has expired: the clock must be wrong. */
  private static final Duration UNKNOWN_LIFE = Duration.ofMinutes(1);

  /** Time in which a bus answers: a few seconds, with a margin. */
  static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(10);

  private static final Duration MAX_PAUSE = Duration.ofSeconds(30);

  private final TokenSource source;
  private final Duration timeout;
  private final Scheduler conductor;
  private final MicroClock clock;
  private final DoubleSupplier random;
  private final Notifier notifier;

  private @Nullable BusLink link;
  private Scheduler.@Nullable Timer timer;
  private int failures;
  // Number of the connection, so that a token for another one has no effect.
  private int round;

  /**
   * Creates a refresh that has nothing to do.
   *
   * @param timeout time that the application has for a token
   */
  TokenRefresh(
      TokenSource source, Duration timeout, Connector.Environment environment, Notifier notifier) {
    this.source = source;
    this.timeout = timeout;
    this.conductor = environment.conductor();
    this.clock = environment.clock();
    this.random = environment.random();
    this.notifier = notifier;
  }

  /**
   * Watches the token of a new connection.
   *
   * @param expiresAt microseconds since the epoch; 0 for never
   */
  void begin(BusLink over, long expiresAt) {
    end();
    if (source.hasNew()) {
      link = over;
      plan(expiresAt);
    }
  }

  /** Stops with the connection. */
  void end() {
    stopTimer();
    link = null;
    failures = 0;
    round++;
  }

  /** Notes that the bus has accepted a token. */
  void renewed(BusLink by, long expiresAt) {
    if (by == link) {
      stopTimer();
      failures = 0;
      plan(expiresAt);
    }
  }

  /** Notes that the bus has refused a token; the listener has heard of it. */
  void refused(BusLink by) {
    if (by == link) {
      retryLater();
    }
  }

  private void plan(long expiresAt) {
    if (expiresAt == 0) {
      return;
    }
    long left = TimeUnit.MICROSECONDS.toNanos(expiresAt - clock.epochMicros());
    long life = left > 0 ? left : UNKNOWN_LIFE.toNanos();
    double part = MAX_LIFE_PART - JITTER * random.getAsDouble();
    later(this::ask, Math.max(MIN_INTERVAL.toNanos(), (long) (life * part)));
  }

  private void ask() {
    int asked = round;
    source.ask(
        timeout,
        new TokenSource.Taker() {
          @Override
          public void got(@Nullable String token) {
            BusLink over = link;
            if (asked == round && over != null && token != null) {
              show(over, token);
            }
          }

          @Override
          public void failed(EventBusException why) {
            if (asked == round) {
              fail(why);
            }
          }
        });
  }

  private void show(BusLink over, String token) {
    later(
        () ->
            fail(
                new EventBusException.TimedOut(
                    "no answer to a new token within " + DurationText.of(ANSWER_TIMEOUT))),
        ANSWER_TIMEOUT.toNanos());
    over.authenticate(token);
  }

  private void fail(EventBusException why) {
    notifier.tell(listener -> listener.problem(why));
    retryLater();
  }

  private void retryLater() {
    long pause = Math.min(MAX_PAUSE.toNanos(), MIN_INTERVAL.toNanos() << Math.min(failures, 10));
    failures++;
    later(this::ask, (long) (pause * (1 - random.getAsDouble() / 2)));
  }

  private void later(Runnable task, long nanos) {
    stopTimer();
    timer = conductor.schedule(task, nanos);
  }

  private void stopTimer() {
    Scheduler.Timer waiting = timer;
    if (waiting != null) {
      waiting.cancel();
      timer = null;
    }
  }
}
