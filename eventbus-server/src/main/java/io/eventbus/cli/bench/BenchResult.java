package io.eventbus.cli.bench;

/**
 * What was found.
 *
 * @param bus the name of the bus that the publisher is connected to
 * @param topic where the events went; nobody else knows it
 * @param subscribers connections that subscribed
 * @param payloadBytes of each event
 * @param rate events per second that were asked for; 0 for as fast as possible
 * @param seconds how long the measured part took
 * @param published events in the measured part
 * @param delivered events in the measured part, over all subscribers
 * @param publishedPerSecond in the measured part
 * @param deliveredPerSecond in the measured part, over all subscribers
 * @param latencyMicros of the events that were due in the measured part
 * @param sent events of the whole run, warm-up included: those that are checked
 * @param lost of these, deliveries that never came, over all subscribers
 * @param told of the lost ones, those that the bus or the SDK told of
 * @param doubled deliveries that came again
 * @param reordered deliveries that came after a later one
 * @param foreign events that came and had not been sent
 * @param reconnects connections that were lost and made again
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
