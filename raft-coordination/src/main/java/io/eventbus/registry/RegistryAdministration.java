package io.eventbus.registry;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Operations for operators of a cluster's registry. Any thread may call any method, on any bus;
 * operations of the leader are sent to it.
 *
 * <p>Stages complete by their deadlines, with the stated result or a {@link RegistryException}: an
 * operation that makes no sense, or would put the majority at risk, is refused with {@link
 * AdministrationRefusedException}. After {@link RegistryTimeoutException} it may still be carried
 * out; each may be repeated.
 *
 * <p>Implementers must not block the caller, and must refuse anything that would leave fewer voters
 * to spare than there were, whatever the operator asks for.
 */
public interface RegistryAdministration {
  /**
   * Returns the status of the registry as seen from this bus. Asks no other bus, and looks at the
   * sizes of files.
   *
   * @return the status of the moment
   */
  RegistryStatus status();

  /**
   * Lists the members of the cluster and the buses that the registry knows, as this bus sees them.
   * Asks no other bus, so it also answers without a majority.
   *
   * @return the list, in the order of the ids
   */
  List<ClusterMember> members();

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
   * Gives a vote to a bus that listens. If there are as many voters as wanted, another bus loses
   * its vote in the same step.
   *
   * @param bus the bus, which must be {@link BusState#UP}
   * @param insteadOf the bus that loses its vote; null to leave the choice to the rule that spreads
   *     votes over zones
   * @param deadline the longest time to take: more than zero, at most {@link Registry#MAX_DEADLINE}
   * @return a stage that completes when it votes
   * @throws IllegalArgumentException if the deadline is out of its range
   */
  CompletionStage<Void> promote(BusId bus, @Nullable BusId insteadOf, Duration deadline);

  /**
   * Takes the vote from a bus, which goes on listening, and gives it to another one that is {@link
   * BusState#UP}.
   *
   * @param bus the bus, which must not lead
   * @param deadline the longest time to take: more than zero, at most {@link Registry#MAX_DEADLINE}
   * @return a stage that completes when it votes no more
   * @throws IllegalArgumentException if the deadline is out of its range
   */
  CompletionStage<Void> demote(BusId bus, Duration deadline);

  /**
   * Removes a bus that is not coming back from the members and from the registry. If it does come
   * back with its directory, it is admitted as any other.
   *
   * @param bus the bus, which must be {@link BusState#DOWN}: stop it first
   * @param deadline the longest time to take: more than zero, at most {@link Registry#MAX_DEADLINE}
   * @return a stage that completes when it is forgotten
   * @throws IllegalArgumentException if the deadline is out of its range
   */
  CompletionStage<Void> remove(BusId bus, Duration deadline);

  /**
   * Invites a bus that waits for others into this cluster: it then joins as if it had been told
   * where this one is. A bus that belongs to another cluster is refused.
   *
   * @param address where its links listen
   * @param deadline the longest time to take: more than zero, at most {@link Registry#MAX_DEADLINE}
   * @return a stage that completes with its id when it is a member
   * @throws IllegalArgumentException if the deadline is out of its range
   */
  CompletionStage<BusId> add(Endpoint address, Duration deadline);

  /**
   * Takes a snapshot on the disk of this bus now, so that the log before it can be cut.
   *
   * @param deadline the longest time to take: more than zero, at most {@link Registry#MAX_DEADLINE}
   * @return a stage that completes with the index of the last entry in it
   * @throws IllegalArgumentException if the deadline is out of its range
   */
  CompletionStage<Long> takeSnapshot(Duration deadline);

  /**
   * Takes a backup of everything that was acknowledged before this call (a linearizable read).
   *
   * @param deadline the longest time to take: more than zero, at most {@link Registry#MAX_DEADLINE}
   * @return a stage that completes with the backup
   * @throws IllegalArgumentException if the deadline is out of its range
   */
  CompletionStage<Backup> backup(Duration deadline);

  /**
   * Hands over the roles of this bus in its cluster, before it ends: it becomes {@link
   * BusState#DRAINING}, hands over the leadership, and its vote if there is a bus to take it. The
   * registry goes on, so that the bus may become {@link BusState#DOWN} and then close it.
   *
   * <p>A role that could not be handed over is no error: the cluster then does without this bus as
   * if it had crashed.
   *
   * @param departure whether the bus may come back
   * @param deadline the longest time to take: more than zero, at most {@link Registry#MAX_DEADLINE}
   * @return a stage that completes by the deadline with what this bus still is; never with an error
   * @throws IllegalArgumentException if the deadline is out of its range
   */
  CompletionStage<DepartureReport> leave(Departure departure, Duration deadline);
}
