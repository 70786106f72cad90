package io.eventbus.cli.bench;

/**
 * Result of a measurement.
 *
 * @param topic random topic of the events
 * @param rate requested events per second; 0 for as fast as possible
 * @param seconds how long the measured part took
 * @param reordered deliveries that came after a later one
 * @param foreign events that came and had not been sent
 */
public record BenchResult(
    String bus,
    String topic,
    int subscribers,
    int payloadBytes,
    long rate,
    double seconds,
    long published,
    long delivered,
    double publishedPerSecond,
    double deliveredPerSecond,
    LatencyFigures latencyMicros,
    long sent,
    long lost,
    long told,
    long doubled,
    long reordered,
    long foreign,
    long reconnects) {
  /** Returns whether every event came to every subscriber once and in order. */
  public boolean whole() {
    return lost == 0 && doubled == 0 && reordered == 0 && foreign == 0;
  }
}
