package io.eventbus.server.balance.decision;

import java.util.Set;

/**
 * Client as a candidate for a move.
 *
 * @param load its cost, as a share of the bus's capacity
 * @param movable whether it may be moved now
 */
public record ClientLoad(
    long connection, long producer, double load, Set<String> topics, int hops, boolean movable) {
  /** Copies the topics, so that the record is immutable. */
  public ClientLoad {
    topics = Set.copyOf(topics);
  }
}
