package io.eventbus.server.balance.decision;

/**
 * How much of what a bus can do it does, at one moment: each figure is a share, 1 for all of it.
 *
 * @param events events in and out a second, of the configured capacity
 * @param bytes bytes in and out a second, of the configured capacity
 * @param connections open connections, of those that may be
 * @param memory what is held for clients, of what may be
 */
public record LoadFigures(
    double busy, double events, double bytes, double connections, double memory) {
  /** Returns the figure that counts: a bus is as full as what is fullest. */
  public double highest() {
    return Math.max(Math.max(busy, events), Math.max(bytes, Math.max(connections, memory)));
  }
}
