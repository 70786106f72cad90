package io.eventbus.server.balance.decision;

/**
 * Load of a bus at one moment: each figure is a share, 1 for the full capacity.
 *
 * @param events events in and out a second, of the configured capacity
 * @param bytes bytes in and out a second, of the configured capacity
 * @param connections open connections, of the maximum
 * @param memory memory held for clients, of the limit
 */
public record LoadFigures(
    double busy, double events, double bytes, double connections, double memory) {
  /** Returns the figure that counts: a bus is as full as what is fullest. */
  public double highest() {
    return Math.max(Math.max(busy, events), Math.max(bytes, Math.max(connections, memory)));
  }
}
