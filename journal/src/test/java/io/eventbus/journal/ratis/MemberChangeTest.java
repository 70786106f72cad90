package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.raft.RatisGroup;
import io.eventbus.raft.members.RaftMembers;
import io.eventbus.raft.repair.VoterChanges;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.ratis.protocol.RaftPeer;
import org.junit.jupiter.api.Test;

class MemberChangeTest {
  /** Group that notes its members after each change, as {@code voters/listeners}. */
  private static final class Group implements VoterChanges.Group {
    private RaftMembers members;
    private final Set<String> away = new HashSet<>();
    private final List<String> changes = new ArrayList<>();

    Group(String voters, String listeners) {
      members = new RaftMembers(peers(voters), peers(listeners));
    }

    private static List<RaftPeer> peers(String ids) {
      return ids.chars()
          .mapToObj(id -> RatisGroup.peer(String.valueOf((char) id), "host:1"))
          .toList();
    }

    @Override
    public RaftMembers members() {
      return members;
    }

    @Override
    public CompletableFuture<Void> change(RaftMembers current, RaftMembers next) {
      assertThat(shown(current)).isEqualTo(shown(members));
      Set<String> votes = new HashSet<>(current.voterIds());
      votes.removeAll(next.voterIds());
      Set<String> more = new HashSet<>(next.voterIds());
      more.removeAll(current.voterIds());
      assertThat(votes.size() + more.size()).as(shown(next)).isLessThanOrEqualTo(1);
      for (String id : away) {
        if (next.contains(id) && !current.contains(id)) {
          return CompletableFuture.failedFuture(new IOException(id + " is away"));
        }
      }
      members = next;
      changes.add(shown(next));
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public Map<String, Long> followerSilenceMillis() {
      return Stream.of("a", "b", "c", "d", "e", "f")
          .collect(Collectors.toMap(id -> id, id -> away.contains(id) ? 60_000L : 0L));
    }

    private static String shown(RaftMembers members) {
      return String.join("", members.voterIds()) + "/" + String.join("", members.listenerIds());
    }

    CompletableFuture<Void> become(String voters, String listeners) {
      List<ShardMember> target = new ArrayList<>();
      voters.chars().forEach(id -> target.add(member(id, true)));
      listeners.chars().forEach(id -> target.add(member(id, false)));
      return new MemberChange(this, target).apply();
    }

    private static ShardMember member(int id, boolean voter) {
      return new ShardMember(String.valueOf((char) id), "host:1", voter);
    }
  }

  @Test
  void oneVoteChangesInAStep() {
    Group group = new Group("a", "bc");
    group.become("abc", "").join();
    assertThat(group.changes).containsExactly("a/c", "ab/c", "ab/", "abc/");
  }

  @Test
  void aVoteIsGivenBeforeAnotherIsTakenAndListenersComeLast() {
    Group group = new Group("abc", "de");
    group.away.add("c");
    group.become("abd", "ef").join();
    assertThat(group.changes).containsExactly("abc/e", "abcd/e", "abd/e", "abd/ef");
  }

  @Test
  void aVoterBecomesAListenerAndAnotherLeaves() {
    Group group = new Group("abcd", "e");
    group.become("ab", "c").join();
    assertThat(group.changes).containsExactly("abd/e", "abd/ce", "ab/ce", "ab/c");
  }

  @Test
  void aMemberThatWillVoteIsAdmittedFirst() {
    Group group = new Group("ab", "");
    group.become("abc", "").join();
    assertThat(group.changes).containsExactly("ab/c", "ab/", "abc/");
  }

  @Test
  void theSameMembersAreNoChange() {
    Group group = new Group("ab", "c");
    group.become("ba", "c").join();
    assertThat(group.changes).isEmpty();
  }

  @Test
  void aChangeGoesOnWhereItHasFailed() {
    Group group = new Group("ab", "c");
    group.away.add("c");
    CompletableFuture<Void> failed = group.become("abc", "");
    assertThatThrownBy(failed::join).hasMessageContaining("c: away");
    assertThat(group.changes).isEmpty();
    CompletableFuture<Void> later = group.become("ab", "cd");
    later.join();
    group.away.add("e");
    CompletableFuture<Void> half = group.become("abd", "ce");
    assertThatThrownBy(half::join).hasMessageContaining("e is away");
    assertThat(group.changes).containsExactly("ab/cd", "ab/c", "abd/c");

    group.away.clear();
    group.become("abd", "ce").join();
    assertThat(group.changes).endsWith("abd/c", "abd/ce");
  }
}
