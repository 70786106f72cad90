package io.eventbus.cli.bench;

/**
 * What was found.
 *
 * @param topic where the events went; nobody else knows it
 * @param rate events per second that were asked for; 0 for as fast as possible
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
  /**
   * Says whether every event came to every subscriber once and in order.
   *
   * @return true if nothing was lost, doubled, reordered or foreign
   */
  public boolean whole() {
    return lost == 0 && doubled == 0 && reordered == 0 && foreign == 0;
  }
}
