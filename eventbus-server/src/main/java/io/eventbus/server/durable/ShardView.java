package io.eventbus.server.durable;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Group of replicas of journals, as one bus knows it.
 *
 * @param number its number
 * @param leader the bus that leads; null if none is known
 * @param term the current term
 * @param committed entries of the log that are committed
 * @param applied entries that are applied at this bus
 * @param ready whether this bus has had all that was committed when it began
 * @param members the replicas
 */
public record ShardView(
    int number,
    @Nullable String leader,
    long term,
    long committed,
    long applied,
    boolean ready,
    List<Member> members) {
  /** Copies the list. */
  public ShardView {
    members = List.copyOf(members);
  }

  /**
   * Replica of the journals.
   *
   * @param bus the bus that has it
   * @param generation the generation of the data directory that it is in
   * @param voter whether it counts for the majority; otherwise it only follows
   * @param behind committed entries that it does not know to be committed; -1 if it was not heard
   *     of
   * @param needsCopy whether entries that it lacks are gone from the leader's log
   */
  public record Member(String bus, int generation, boolean voter, long behind, boolean needsCopy) {}
}
