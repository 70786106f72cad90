package io.eventbus.server.balance.decision;

import java.time.Duration;

/**
 * Reservations of other buses: what they may send to this bus without overloading it. A grant
 * counts as its own load until its load shows it. For one thread.
 */
public final class Reservations {
  private final double low;
  private final double high;
  private final LoadCredit granted;

  /**
   * Creates the reservations of a bus that has granted nothing.
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
      // Not to a bus that would be fuller afterwards than the clients' present one.
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
   * Releases a grant whose clients are not coming.
   *
   * @param load of the clients that stay at their bus
   * @param nowNanos as {@link System#nanoTime}
   */
  public void release(double load, long nowNanos) {
    granted.add(-load, nowNanos);
  }

  /**
   * Returns the granted load that this bus's load does not show yet, as a share of its capacity.
   *
   * @param nowNanos as {@link System#nanoTime}
   */
  public double reserved(long nowNanos) {
    return granted.value(nowNanos);
  }

  /**
   * Request of another bus.
   *
   * @param clients the load of each client, as a share of a bus's capacity
   */
  // Read once, compared with nothing.
  @SuppressWarnings("ArrayRecordComponent")
  public record Request(double load, boolean leaving, double[] clients) {}
}
