package io.eventbus.server.balance.decision;

import java.time.Duration;

/**
 * What a bus lets others send to it: so much that it does not become overloaded by it. What it has
 * granted counts as its own until its load shows it. For one thread.
 */
public final class Reservations {
  private final double low;
  private final double high;
  private final LoadCredit granted;

  /**
   * Makes reservations of a bus that has granted nothing.
   *
   * @param low the load to which others may fill this bus
   * @param high the load to which a bus may that has to get rid of its clients
   * @param settle how long it takes until clients that were granted show in the load
   */
  public Reservations(double low, double high, Duration settle) {
    this.low = low;
    this.high = high;
    this.granted = new LoadCredit(settle);
  }

  /**
   * Grants as much of a request as there is room for.
   *
   * @param nowNanos as {@link System#nanoTime}
   * @return how many clients may come, 0 for none; the first of those in the request
   */
  public int grant(Request request, double ownLoad, long nowNanos) {
    double ceiling = request.leaving() ? high : low;
    double room = ceiling - ownLoad - granted.value(nowNanos);
    if (!request.leaving()) {
      // Not to a bus that would be fuller afterwards than the one that they come from.
      room = Math.min(room, (request.load() - ownLoad - granted.value(nowNanos)) / 2);
    }
    int clients = 0;
    double load = 0;
    for (double each : request.clients()) {
      if (load + each > room) {
        break;
      }
      load += each;
      clients++;
    }
    if (clients > 0) {
      granted.add(load, nowNanos);
    }
    return clients;
  }

  /**
   * Takes back what was granted and is not coming.
   *
   * @param load of the clients that stay where they are
   * @param nowNanos as {@link System#nanoTime}
   */
  public void release(double load, long nowNanos) {
    granted.add(-load, nowNanos);
  }

  /**
   * Returns what was granted and does not show in the load yet.
   *
   * @param nowNanos as {@link System#nanoTime}
   * @return a share of this bus's capacity
   */
  public double reserved(long nowNanos) {
    return granted.value(nowNanos);
  }

  /**
   * What another bus asks for.
   *
   * @param clients the load of each client, as a share of a bus's capacity
   */
  // Read once, compared with nothing.
  @SuppressWarnings("ArrayRecordComponent")
  public record Request(double load, boolean leaving, double[] clients) {}
}
