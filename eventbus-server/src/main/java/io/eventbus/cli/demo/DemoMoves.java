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
 * Moves of clients from bus to bus, as the clients see them, and their cost. Safe for use by
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

  /** Creates the measure of a subscriber that is about to connect. */
  synchronized DemoPause subscriber() {
    DemoPause pause = new DemoPause(this::onPause);
    subscribers.add(pause);
    return pause;
  }

  /** Creates the listener of a subscriber. */
  ConnectionListener listener(DemoPause pause) {
    return new Listener(() -> pause.changed(System.nanoTime()));
  }

  /** Creates the listener of a publisher. */
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

  /** Returns the number of moves. */
  synchronized int moved() {
    return moved;
  }

  /** Returns the number of clients that could not move to the requested bus. */
  synchronized int stayed() {
    return stayed;
  }

  /** Returns the number of connections that ended otherwise than by a move. */
  synchronized int cut() {
    return cut;
  }

  synchronized int out(String bus) {
    return out.getOrDefault(bus, 0);
  }

  synchronized int in(String bus) {
    return in.getOrDefault(bus, 0);
  }

  /** Returns the pauses of subscribers so far. */
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

  /** Listener of one client. */
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
