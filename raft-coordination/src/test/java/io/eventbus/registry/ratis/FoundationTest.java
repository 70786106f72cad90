package io.eventbus.registry.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.BusId;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.ratis.Probe.Standing;
import io.eventbus.registry.ratis.Probe.Wish;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Who may found a cluster. */
class FoundationTest {
  private static final UUID CLUSTER = UUID.fromString("00000000-0000-4000-8000-000000000001");

  private final Foundation b = new Foundation(new BusId("b"), 7, null);

  private static Probe.Question question(String bus, long instance, Wish wish) {
    return new Probe.Question(
        new BusId(bus), instance, new Endpoint("127.0.0.1", 1 + bus.charAt(0)), wish);
  }

  private Standing ask(String bus, long instance, Wish wish) {
    return b.answer(question(bus, instance, wish)).standing();
  }

  @Test
  void toAskPromisesNothing() {
    assertThat(ask("a", 1, Wish.NONE)).isEqualTo(Standing.FRESH);
    assertThat(b.hasPromised()).isFalse();
    assertThat(b.beginFounding()).isTrue();
  }

  @Test
  void itLeavesTheFoundingToALowerIdAndNeverFoundsThen() {
    assertThat(ask("a", 1, Wish.PROMISE)).isEqualTo(Standing.PROMISED);
    assertThat(b.beginFounding()).isFalse();
    assertThat(ask("a", 1, Wish.NONE)).isEqualTo(Standing.PROMISED);
    assertThat(ask("c", 3, Wish.NONE)).isEqualTo(Standing.WAITING);
    assertThat(b.askers()).containsExactly(new Endpoint("127.0.0.1", 98));
  }

  @Test
  void itPromisesNothingToAHigherIdNorToASecondOne() {
    assertThat(ask("c", 1, Wish.PROMISE)).isEqualTo(Standing.FRESH);
    assertThat(ask("a", 1, Wish.PROMISE)).isEqualTo(Standing.PROMISED);
    assertThat(ask("Z", 2, Wish.PROMISE)).isEqualTo(Standing.WAITING);
  }

  @Test
  void aBusThatWasRestartedIsPromisedAgainAndItsFormerLifeNotAnyMore() {
    assertThat(ask("a", 1, Wish.PROMISE)).isEqualTo(Standing.PROMISED);
    assertThat(ask("a", 2, Wish.NONE)).isEqualTo(Standing.WAITING);
    assertThat(ask("a", 2, Wish.PROMISE)).isEqualTo(Standing.PROMISED);
    assertThat(ask("a", 1, Wish.NONE)).isEqualTo(Standing.WAITING);
  }

  @Test
  void whoFoundsPromisesNothing() {
    assertThat(b.beginFounding()).isTrue();
    assertThat(ask("a", 1, Wish.PROMISE)).isEqualTo(Standing.WAITING);
    b.joined(CLUSTER);
    Probe.Answer answer = b.answer(question("a", 1, Wish.NONE));
    assertThat(answer)
        .isEqualTo(new Probe.Answer(new BusId("b"), 7, Standing.MEMBER, CLUSTER.toString()));
  }

  @Test
  void whoInvitesIsLookedForAndPromisedNothing() {
    assertThat(ask("z", 1, Wish.INVITATION)).isEqualTo(Standing.FRESH);
    assertThat(b.hasPromised()).isFalse();
    assertThat(b.askers()).hasSize(1);
    for (int i = 0; i < 100; i++) {
      b.answer(
          new Probe.Question(
              new BusId("z"), 1, new Endpoint("127.0.0.1", 1_000 + i), Wish.INVITATION));
    }
    assertThat(b.askers()).as("bounded").hasSize(64);
  }

  @Test
  void aMemberFollowsNoInvitation() {
    Foundation member = new Foundation(new BusId("m"), 7, CLUSTER);
    member.answer(question("z", 1, Wish.INVITATION));
    member.answer(question("a", 1, Wish.PROMISE));
    assertThat(member.askers()).isEmpty();
    assertThat(member.hasPromised()).isFalse();
  }
}
