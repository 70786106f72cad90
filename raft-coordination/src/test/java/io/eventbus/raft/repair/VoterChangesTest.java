package io.eventbus.raft.repair;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.raft.members.RaftMembers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.ratis.protocol.RaftPeer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VoterChangesTest {
  private static final RaftMembers MEMBERS = new RaftMembers(peers("a", "b", "c"), peers("d", "e"));

  private static List<RaftPeer> peers(String... buses) {
    return Arrays.stream(buses)
        .map(bus -> RaftPeer.newBuilder().setId(bus).setAddress("127.0.0.1:1").build())
        .toList();
  }

  @ParameterizedTest
  @CsvSource({"a, d, 'b,c,d'", "a, , 'b,c'", ", d, 'a,b,c,d'"})
  void noChangeAltersTwoVotesOrGivesABusAnotherRole(
      @Nullable String out, @Nullable String in, String voters) {
    List<RaftMembers> steps = VoterChanges.steps(MEMBERS, out, in);
    assertThat(steps.get(0)).isEqualTo(MEMBERS);
    for (int i = 1; i < steps.size(); i++) {
      RaftMembers before = steps.get(i - 1);
      RaftMembers after = steps.get(i);
      assertThat(difference(before.voterIds(), after.voterIds())).hasSizeLessThan(2);
      assertThat(before.voterIds()).doesNotContainAnyElementsOf(after.listenerIds());
      assertThat(before.listenerIds()).doesNotContainAnyElementsOf(after.voterIds());
    }
    assertThat(steps.get(steps.size() - 1).voterIds()).containsExactly(voters.split(",", -1));
  }

  private static Set<String> difference(List<String> first, List<String> second) {
    Set<String> all = new HashSet<>(first);
    all.addAll(second);
    List<String> both = new ArrayList<>(first);
    both.retainAll(second);
    all.removeAll(both);
    return all;
  }
}
