package io.eventbus.server.replica;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.ratis.ShardMember;
import io.eventbus.journal.ratis.ShardStatus;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.advisory.Advisory.ReplicaChange;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Changes of a shard that bus a sees. */
class ShardWatchTest {
  private static final String MEMBERS = "a~1* b~1* c~1*";

  private final List<Advisory> told = new ArrayList<>();
  private long nanos = Long.MAX_VALUE - 5;
  private final ShardWatch watch = new ShardWatch("a", 1, told::add, () -> nanos);
  private long behindC;
  private boolean needsCopyC;

  private void look(@Nullable String leader, long term, String members) {
    watch.look(
        new ShardStatus(
            leader,
            term,
            9_000,
            9_000,
            true,
            false,
            false,
            null,
            Stream.of(members.split(" ", -1))
                .map(
                    each -> {
                      String id = each.replace("*", "");
                      boolean isC = ShardMember.bus(id).equals("c");
                      return new ShardStatus.Member(
                          id, each.endsWith("*"), isC ? behindC : 0, isC && needsCopyC);
                    })
                .toList()));
  }

  private void expect(Advisory... expected) {
    assertThat(told).containsExactly(expected);
    told.clear();
  }

  @Test
  void theBusThatLeadsAndTheOneThatNoLongerLeadsTellThat() {
    watch.look(null);
    look("b~1", 1, MEMBERS);
    look("c~1", 2, MEMBERS);
    expect();
    look("a~1", 3, MEMBERS);
    look("a~1", 3, MEMBERS);
    expect(new Advisory.ShardLeaderChanged(1, "a", "c", 3));
    look(null, 3, MEMBERS);
    look("b~1", 4, MEMBERS);
    expect(new Advisory.ShardLeaderChanged(1, "b", "a", 4));
    look("c~1", 5, MEMBERS);
    expect();
  }

  @Test
  void aBusTellsThatItHearsOfNoLeaderAndOfOneAgain() {
    look("b~1", 1, MEMBERS);
    look(null, 1, MEMBERS);
    nanos += ShardWatch.LEADERLESS_NANOS - 1;
    look(null, 1, MEMBERS);
    look("b~1", 1, MEMBERS);
    look(null, 1, MEMBERS);
    nanos += ShardWatch.LEADERLESS_NANOS - 1;
    look(null, 1, MEMBERS);
    expect();
    nanos++;
    look(null, 2, MEMBERS);
    look(null, 2, MEMBERS);
    expect(new Advisory.ShardLeaderChanged(1, null, "b", 2));
    look("b~1", 3, MEMBERS);
    look("b~1", 3, MEMBERS);
    expect(new Advisory.ShardLeaderChanged(1, "b", null, 3));
  }

  @Test
  void theLeaderTellsWhoVotesAndFollows() {
    look("b~1", 1, MEMBERS);
    look("b~1", 1, "a~1* b~1* c~1* d~1");
    expect();
    look("a~1", 2, "a~1* b~1* c~1 d~1*");
    expect(
        new Advisory.ShardLeaderChanged(1, "a", "b", 2),
        new Advisory.ShardMembersChanged(1, List.of("a~1", "b~1", "d~1"), List.of("c~1")));
    look("a~1", 2, "d~1* c~1 a~1* b~1*");
    expect();
  }

  @Test
  void theLeaderTellsThatAReplicaIsBehindAndHasCaughtUp() {
    look("a~1", 1, MEMBERS);
    told.clear();
    behindC = PlacementDuty.MAX_BEHIND + 1;
    look("a~1", 1, MEMBERS);
    nanos += ShardWatch.BEHIND_NANOS - 1;
    look("a~1", 1, MEMBERS);
    expect();
    nanos++;
    look("a~1", 1, MEMBERS);
    look("a~1", 1, MEMBERS);
    expect(
        new Advisory.ReplicaChanged(
            1, "c", ReplicaChange.BEHIND, "it lacks 1001 committed entries"));
    behindC = -1;
    look("a~1", 1, MEMBERS);
    expect();
    behindC = PlacementDuty.MAX_BEHIND;
    look("a~1", 1, MEMBERS);
    look("a~1", 1, MEMBERS);
    expect(new Advisory.ReplicaChanged(1, "c", ReplicaChange.CAUGHT_UP, ""));
    needsCopyC = true;
    look("a~1", 1, MEMBERS);
    expect(new Advisory.ReplicaChanged(1, "c", ReplicaChange.BEHIND, "it needs a copy"));
    look("a~1", 1, "a~1* b~1*");
    needsCopyC = false;
    look("a~1", 1, MEMBERS);
    assertThat(told).doesNotHaveAnyElementsOfTypes(Advisory.ReplicaChanged.class);
  }

  @Test
  void aReplicaThatGetsACopyTellsNothingHere() {
    look("a~1", 1, MEMBERS);
    told.clear();
    watch.look(
        new ShardStatus(
            null,
            -1,
            -1,
            -1,
            false,
            true,
            false,
            new ShardStatus.Copy("b~1", 1, 2, null),
            List.of(new ShardStatus.Member("a~1", true, -1, true))));
    nanos += 2 * ShardWatch.LEADERLESS_NANOS;
    expect();
  }

  @Test
  void aReplicaTellsWhatHappensToItsFiles() {
    ReplicaAdvisories replica = new ReplicaAdvisories("a", 1, told::add);
    replica.failed("no space left");
    replica.opened();
    replica.copying("b~2");
    replica.copyFailed("b~2: closed");
    replica.copied("b~2", 17);
    replica.damaged("acme/orders", "positions 3 to 3 cannot be read");
    expect(
        new Advisory.ReplicaChanged(1, "a", ReplicaChange.FAILED, "no space left"),
        new Advisory.ReplicaChanged(1, "a", ReplicaChange.OPENED, ""),
        new Advisory.ReplicaChanged(1, "a", ReplicaChange.COPYING, "from b"),
        new Advisory.ReplicaChanged(1, "a", ReplicaChange.COPY_FAILED, "b~2: closed"),
        new Advisory.ReplicaChanged(1, "a", ReplicaChange.COPIED, "17 bytes from b"),
        new Advisory.JournalDamaged("acme", "orders", "positions 3 to 3 cannot be read"));
  }
}
