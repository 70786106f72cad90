package io.eventbus.loadtest.faults.history;

import java.util.List;
import java.util.Set;

/**
 * Events that all consumers of a durable subscription got.
 *
 * @param topics those that its filter selects
 * @param from the position at which it began
 * @param delivered in the order of time for each consumer; {@code where} begins with the consumer
 * @param cuts what its consumers were told not to get
 * @param settlements what was confirmed as settled, in any order
 * @param losses of its consumers, in any order
 */
public record Consumption(
    String subscription,
    Set<String> topics,
    long from,
    List<Delivery> delivered,
    List<Cut> cuts,
    List<Settlement> settlements,
    List<ConsumerLoss> losses) {
  /** Copies the collections. */
  public Consumption {
    topics = Set.copyOf(topics);
    delivered = List.copyOf(delivered);
    cuts = List.copyOf(cuts);
    settlements = List.copyOf(settlements);
    losses = List.copyOf(losses);
  }

  /**
   * Event that a consumer handled.
   *
   * @param client of the consumer
   * @param bus to which that is connected
   * @param consumer which gets each event once
   */
  public record Delivery(String client, String bus, String consumer, Sighting seen) {}

  /**
   * Confirmed settlement.
   *
   * @param upTo the position up to which all events are settled
   * @param at the time after this was told
   */
  public record Settlement(long upTo, long at) {}
}
