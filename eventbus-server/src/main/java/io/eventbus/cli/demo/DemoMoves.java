package io.eventbus.cli.demo;

import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.ConnectionListener;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Who went from which bus to which, as the clients see it, and what it cost them. Safe for use by
 * several threads.
 */
final class DemoMoves {
  private static final long MAX_MICROS = TimeUnit.MINUTES.toMicros(1);

  private final Map<String, Integer> out = new HashMap<>();
  private final Map<String, Integer> in = new HashMap<>();
  private final List<DemoPause> subscribers = new ArrayList<>();
  private final Histogram pauses = new Histogram(MAX_MICROS, 3);
  private int moved;
  private int stayed;
  private int cut;

  /** Makes the measure of a subscriber that is about to connect. */
  synchronized DemoPause subscriber() {
    DemoPause pause = new DemoPause(this::onPause);
    subscribers.add(pause);
    return pause;
  }

  /** Makes the listener of a subscriber. */
  ConnectionListener listener(DemoPause pause) {
    return new Listener(() -> pause.changed(System.nanoTime()));
  }

  /** Makes the listener of a publisher. */
  ConnectionListener listener() {
    return new Listener(() -> {});
  }

  private synchronized void onMove(String from, String to) {
    out.merge(from, 1, Integer::sum);
    in.merge(to, 1, Integer::sum);
    moved++;
  }

  private synchronized void onStay() {
    stayed++;
  }

  private synchronized void onCut() {
    cut++;
  }

  private synchronized void onPause(long micros) {
    pauses.recordValue(Math.min(micros, MAX_MICROS));
  }

  /** Clients that have gone to another bus, each as often as it went. */
  synchronized int moved() {
    return moved;
  }

  /** Clients that could not go where they were asked to. */
  synchronized int stayed() {
    return stayed;
  }

  /** Connections that ended otherwise than by a change of bus. */
  synchronized int cut() {
    return cut;
  }

  synchronized int out(String bus) {
    return out.getOrDefault(bus, 0);
  }

  synchronized int in(String bus) {
    return in.getOrDefault(bus, 0);
  }

  /** The pauses of subscribers so far. */
  Pauses pauses() {
    List<DemoPause> all;
    synchronized (this) {
      all = List.copyOf(subscribers);
    }
    all.forEach(DemoPause::finish);
    synchronized (this) {
      return new Pauses(
          pauses.getTotalCount(),
          micros(pauses.getValueAtPercentile(50)),
          micros(pauses.getValueAtPercentile(99)),
          micros(pauses.getMaxValue()));
    }
  }

  private static Duration micros(long micros) {
    return Duration.ofNanos(TimeUnit.MICROSECONDS.toNanos(micros));
  }

  /** Pauses, see {@link DemoPause}. */
  record Pauses(long count, Duration p50, Duration p99, Duration max) {}

  /** Hears of one client. */
  private final class Listener implements ConnectionListener {
    private final Runnable changed;

    Listener(Runnable changed) {
      this.changed = changed;
    }

    @Override
    public void busChanged(ConnectionInfo before, ConnectionInfo now) {
      changed.run();
      onMove(before.bus(), now.bus());
    }

    @Override
    public void busChangeFailed(URI url, String why) {
      onStay();
    }

    @Override
    public void disconnected(int code, String reason, boolean willReconnect) {
      if (willReconnect) {
        onCut();
      }
    }
  }
}
