package io.eventbus.registry.ratis.join;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.BusId;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.ratis.join.JoinMessages.JoinIntent;
import io.eventbus.registry.ratis.join.JoinMessages.MemberStatus;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Decision which bus may found a cluster. */
class BootstrapElectionTest {
  private static final UUID CLUSTER = UUID.fromString("00000000-0000-4000-8000-000000000001");

  private final BootstrapElection b = new BootstrapElection(new BusId("b"), 7, null);

  private static JoinMessages.Question question(String bus, long instance, JoinIntent intent) {
    return new JoinMessages.Question(
        new BusId(bus), instance, new Endpoint("127.0.0.1", 1 + bus.charAt(0)), intent);
  }

  private MemberStatus ask(String bus, long instance, JoinIntent intent) {
    return b.answer(question(bus, instance, intent)).status();
  }

  @Test
  void toAskPromisesNothing() {
    assertThat(ask("a", 1, JoinIntent.NONE)).isEqualTo(MemberStatus.FRESH);
    assertThat(b.hasPromised()).isFalse();
    assertThat(b.beginFounding()).isTrue();
  }

  @Test
  void leavesTheFoundingToALowerIdAndNeverFoundsThen() {
    assertThat(ask("a", 1, JoinIntent.PROMISE)).isEqualTo(MemberStatus.PROMISED);
    assertThat(b.beginFounding()).isFalse();
    assertThat(ask("a", 1, JoinIntent.NONE)).isEqualTo(MemberStatus.PROMISED);
    assertThat(ask("c", 3, JoinIntent.NONE)).isEqualTo(MemberStatus.WAITING);
    assertThat(b.askers()).containsExactly(new Endpoint("127.0.0.1", 98));
  }

  @Test
  void promisesNothingToAHigherIdNorToASecondOne() {
    assertThat(ask("c", 1, JoinIntent.PROMISE)).isEqualTo(MemberStatus.FRESH);
    assertThat(ask("a", 1, JoinIntent.PROMISE)).isEqualTo(MemberStatus.PROMISED);
    assertThat(ask("Z", 2, JoinIntent.PROMISE)).isEqualTo(MemberStatus.WAITING);
  }

  @Test
  void aBusThatWasRestartedIsPromisedAgainAndItsFormerLifeNotAnyMore() {
    assertThat(ask("a", 1, JoinIntent.PROMISE)).isEqualTo(MemberStatus.PROMISED);
    assertThat(ask("a", 2, JoinIntent.NONE)).isEqualTo(MemberStatus.WAITING);
    assertThat(ask("a", 2, JoinIntent.PROMISE)).isEqualTo(MemberStatus.PROMISED);
    assertThat(ask("a", 1, JoinIntent.NONE)).isEqualTo(MemberStatus.WAITING);
  }

  @Test
  void aFounderPromisesNothing() {
    assertThat(b.beginFounding()).isTrue();
    assertThat(ask("a", 1, JoinIntent.PROMISE)).isEqualTo(MemberStatus.WAITING);
    b.joined(CLUSTER);
    JoinMessages.Answer answer = b.answer(question("a", 1, JoinIntent.NONE));
    assertThat(answer)
        .isEqualTo(
            new JoinMessages.Answer(new BusId("b"), 7, MemberStatus.MEMBER, CLUSTER.toString()));
  }

  @Test
  void looksForAnInvitingBusAndPromisesItNothing() {
    assertThat(ask("z", 1, JoinIntent.INVITATION)).isEqualTo(MemberStatus.FRESH);
    assertThat(b.hasPromised()).isFalse();
    assertThat(b.askers()).hasSize(1);
    for (int i = 0; i < 100; i++) {
      b.answer(
          new JoinMessages.Question(
              new BusId("z"), 1, new Endpoint("127.0.0.1", 1_000 + i), JoinIntent.INVITATION));
    }
    assertThat(b.askers()).as("bounded").hasSize(64);
  }

  @Test
  void aMemberFollowsNoInvitation() {
    BootstrapElection member = new BootstrapElection(new BusId("m"), 7, CLUSTER);
    member.answer(question("z", 1, JoinIntent.INVITATION));
    member.answer(question("a", 1, JoinIntent.PROMISE));
    assertThat(member.askers()).isEmpty();
    assertThat(member.hasPromised()).isFalse();
  }
}
