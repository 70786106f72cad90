package io.eventbus.journal.ratis;

import io.eventbus.raft.GroupLog;
import io.eventbus.raft.RatisGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
 * @param takenOut whether the members were changed without this replica, as far as it has heard;
 *     also for the moments in which it becomes a voter
 * @param copy state of the copy that this replica gets; null if it gets none. Nothing is known of
 *     term and entries meanwhile
 * @param members all replicas, by their ids, as Raft knows them; while this one gets a copy, as the
 *     others know them
 */
public record ShardStatus(
    @Nullable String leader,
    long term,
    long committed,
    long applied,
    boolean ready,
    boolean needsCopy,
    boolean takenOut,
    @Nullable Copy copy,
    List<Member> members) {
  /** Copies the list. */
  public ShardStatus {
    members = List.copyOf(members);
  }

  static ShardStatus of(
      RatisGroup group,
      String self,
      long applied,
      boolean ready,
      boolean needsCopy,
      boolean takenOut) {
    GroupLog log = group.log();
    Map<String, Long> positions = group.positions();
    List<String> voters = group.voters();
    String leader = group.leader();
    long committed = log == null ? -1 : log.committed();
    // What others lack is known where the log is from which they would get it.
    long begin = self.equals(leader) ? group.logBegin() : -1;
    List<Member> members = new ArrayList<>();
    for (String id : group.memberIds()) {
      long position = positions.getOrDefault(id, -1L);
      boolean lacks = position >= 0 && position + 1 < begin;
      members.add(
          new Member(
              id,
              voters.contains(id),
              position < 0 ? -1 : Math.max(0, committed - position),
              id.equals(self) ? needsCopy : lacks));
    }
    return new ShardStatus(
        leader, group.term(), committed, applied, ready, needsCopy, takenOut, null, members);
  }

  /**
   * State of a copy.
   *
   * @param source the replica whose rows are copied; null while none is
   * @param bytes bytes that are here
   * @param expected about how many there will be
   * @param problem why the last attempt has failed; null for none
   */
  public record Copy(
      @Nullable String source, long bytes, long expected, @Nullable String problem) {}

  /**
   * State of one replica.
   *
   * @param behind number of committed entries that it does not know to be committed; -1 if it was
   *     not heard of
   * @param needsCopy as for the shard; known at the leader and at that bus
   */
  public record Member(String id, boolean voter, long behind, boolean needsCopy) {}
}
