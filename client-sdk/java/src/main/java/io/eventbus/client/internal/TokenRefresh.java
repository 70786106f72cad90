package io.eventbus.client.internal;

import io.eventbus.client.EventBusException;
import io.eventbus.protocol.DurationText;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Shows a bus a new token before the one that a connection has expires. Where that fails it is
 * tried again, later each time, until the bus ends the connection; the next one begins with a new
 * token. Confined to the conductor.
 */
final class TokenRefresh {
  /** Of a token's life: when it is replaced at the latest; at the earliest a tenth before. */
  private static final double LATEST = 0.8;

  private static final double JITTER = 0.1;

  /** A token is not replaced more often, however short its life is. */
  static final Duration MIN = Duration.ofSeconds(1);

  /** The life of a token that by this machine's clock has expired: the clock must be wrong. */
  private static final Duration UNKNOWN_LIFE = Duration.ofMinutes(1);

  /** A bus answers within a few seconds. */
  static final Duration ANSWER = Duration.ofSeconds(10);

  private static final Duration MAX_PAUSE = Duration.ofSeconds(30);

  private final TokenSource source;
  private final Duration patience;
  private final Scheduler conductor;
  private final MicroClock clock;
  private final DoubleSupplier random;
  private final Notifier notifier;

  private @Nullable BusLink link;
  private Scheduler.@Nullable Timer timer;
  private int failures;
  // Of the connection, so that what was asked for another one has no effect.
  private int round;

  /**
   * Makes one that has nothing to do.
   *
   * @param patience how long the application may take for a token
   */
  TokenRefresh(
      TokenSource source, Duration patience, Connector.Environment environment, Notifier notifier) {
    this.source = source;
    this.patience = patience;
    this.conductor = environment.conductor();
    this.clock = environment.clock();
    this.random = environment.random();
    this.notifier = notifier;
  }

  /**
   * A bus has let this client in.
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

  /** The connection is this client's no longer. */
  void end() {
    stopTimer();
    link = null;
    failures = 0;
    round++;
  }

  /** The bus has taken a token. */
  void renewed(BusLink by, long expiresAt) {
    if (by == link) {
      stopTimer();
      failures = 0;
      plan(expiresAt);
    }
  }

  /** The bus has refused a token, which the listener has heard. */
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
    double part = LATEST - JITTER * random.getAsDouble();
    later(this::ask, Math.max(MIN.toNanos(), (long) (life * part)));
  }

  private void ask() {
    int asked = round;
    source.ask(
        patience,
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
                    "no answer to a new token within " + DurationText.of(ANSWER))),
        ANSWER.toNanos());
    over.authenticate(token);
  }

  private void fail(EventBusException why) {
    notifier.tell(listener -> listener.problem(why));
    retryLater();
  }

  private void retryLater() {
    long pause = Math.min(MAX_PAUSE.toNanos(), MIN.toNanos() << Math.min(failures, 10));
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
