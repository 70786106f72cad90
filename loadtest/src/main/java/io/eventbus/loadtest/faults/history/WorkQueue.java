package io.eventbus.loadtest.faults.history;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Shared durable subscription from the first event on: what all of its workers got, and what became
 * of it.
 *
 * @param topics those that its filter selects
 * @param deliveries in any order
 * @param losses of its workers, in any order
 * @param cuts what its workers were told not to get
 * @param dead letters, as a bus lists them when everything is over
 */
public record WorkQueue(
    String subscription,
    Set<String> topics,
    Limits limits,
    List<Delivery> deliveries,
    List<ConsumerLoss> losses,
    List<Cut> cuts,
    List<DeadLetter> dead) {
  /** Copies the collections. */
  public WorkQueue {
    topics = Set.copyOf(topics);
    deliveries = List.copyOf(deliveries);
    losses = List.copyOf(losses);
    cuts = List.copyOf(cuts);
    dead = List.copyOf(dead);
  }

  /**
   * Limits that all workers state.
   *
   * @param ackNanos time after which an event that is not settled comes again
   */
  public record Limits(long ackNanos, int maxAttempts) {}

  /**
   * Worker at a bus.
   *
   * @param client which has no other worker
   * @param begun the time before it asked for events
   */
  public record Worker(String client, String bus, long begun) {}

  /**
   * Event that the handler of a worker got.
   *
   * @param settlement null if the worker let the ack timeout pass
   */
  public record Delivery(
      Worker worker, Sighting seen, int attempt, @Nullable Settlement settlement) {
    /** Returns whether it was settled with an outcome, as far as its worker knows. */
    public boolean has(Outcome outcome) {
      return settlement != null && settlement.outcome() == outcome;
    }

    /** Returns whether it was settled, with an answer. */
    public boolean has(Answer answer) {
      return settlement != null && settlement.answer() == answer;
    }

    @Override
    public String toString() {
      return seen + ", attempt " + attempt + (settlement == null ? "" : ", " + settlement);
    }
  }

  /** Fate of an event that a worker has got. */
  public enum Outcome {
    /** Handled. */
    DONE,
    /** To come again later. */
    RETRY,
    /** To be a dead letter. */
    REJECT,
    /** To come to another worker. */
    RELEASE
  }

  /** Answer to a settlement. */
  public enum Answer {
    /** The worker did not ask, or got no answer. */
    UNKNOWN,
    /** It is stored. */
    CONFIRMED,
    /** The worker did not have the event any more. */
    REFUSED
  }

  /**
   * Settlement of a delivery.
   *
   * @param called the time before it
   * @param delayNanos time that the event has to wait, after RETRY
   */
  public record Settlement(Outcome outcome, long called, long delayNanos, Answer answer) {
    @Override
    public String toString() {
      return String.format("%s at %.3f s, %s", outcome, called / 1e9, answer);
    }
  }

  /**
   * Dead letter.
   *
   * @param attempts deliveries without success
   * @param at the time when it died
   */
  public record DeadLetter(long position, int attempts, String reason, long at) {}
}
