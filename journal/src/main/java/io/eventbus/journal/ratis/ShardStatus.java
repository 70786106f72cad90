package io.eventbus.journal.ratis;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * State of a shard as this bus knows it.
 *
 * @param leader the member that leads; null if none is known
 * @param term the current term
 * @param committed index up to which the log is committed
 * @param applied index up to which it is applied here
 * @param ready whether all has been applied here that was committed when this replica was opened
 * @param needsCopy whether entries that this replica lacks are gone from the leader's log: it goes
 *     on only with a copy of another's rows
 * @param members all replicas, by their ids
 */
public record ShardStatus(
    @Nullable String leader,
    long term,
    long committed,
    long applied,
    boolean ready,
    boolean needsCopy,
    List<Member> members) {
  /** Copies the list. */
  public ShardStatus {
    members = List.copyOf(members);
  }

  /**
   * State of one replica.
   *
   * @param behind number of committed entries that it does not know to be committed; -1 if it was
   *     not heard of
   * @param needsCopy as for the shard; known at the leader and at that bus
   */
  public record Member(String id, boolean voter, long behind, boolean needsCopy) {}
}
