package io.eventbus.server.balance.decision;

import java.util.Set;

/**
 * A client as a candidate for a move.
 *
 * @param connection the number of its connection on this bus
 * @param producer its producer number
 * @param load what it costs, as a share of the bus's capacity
 * @param topics what it publishes and subscribes to, as far as the bus knows
 * @param hops how often it was moved within the last minute
 * @param movable whether it may be moved now
 */
public record ClientLoad(
    long connection, long producer, double load, Set<String> topics, int hops, boolean movable) {
  /** Copies the topics, so that the record is immutable. */
  public ClientLoad {
    topics = Set.copyOf(topics);
  }
}
