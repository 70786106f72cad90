package io.eventbus.registry;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * What operators do with the registry of a cluster. Any thread may call any method, on any bus;
 * what only the leader can do is sent to it.
 *
 * <p>Stages complete by their deadlines, with what is said there or a {@link RegistryException}: an
 * operation that makes no sense, or would put the majority at risk, is refused with {@link
 * AdministrationRefusedException}. After {@link RegistryTimeoutException} it may still be carried
 * out; each may be repeated.
 *
 * <p>Implementers must not block the caller, and must not carry out what would leave fewer voters
 * to spare than there were, whatever the operator asks for.
 */
public interface RegistryAdministration {
  /**
   * Hands the leadership to another voter.
   *
   * @param to the voter
   * @param deadline the longest time to take: more than zero, at most {@link Registry#MAX_DEADLINE}
   * @return a stage that completes when that bus leads
   * @throws IllegalArgumentException if the deadline is out of its range
   */
  CompletionStage<Void> transferLeadership(BusId to, Duration deadline);

  /**
   * Hands over what this bus is in its cluster, before it ends: it becomes {@link
   * BusState#DRAINING}, hands over the leadership, and its vote if there is a bus to take it. The
   * registry goes on, so that the bus may become {@link BusState#DOWN} and then close it.
   *
   * <p>What could not be handed over is no error: the cluster then does without this bus as if it
   * had crashed.
   *
   * @param departure whether the bus may come back
   * @param deadline the longest time to take: more than zero, at most {@link Registry#MAX_DEADLINE}
   * @return a stage that completes by the deadline with what this bus still is; never with an error
   * @throws IllegalArgumentException if the deadline is out of its range
   */
  CompletionStage<DepartureReport> leave(Departure departure, Duration deadline);
}
