package io.eventbus.registry.ratis;

import static io.eventbus.registry.ratis.TestCluster.await;
import static io.eventbus.registry.ratis.TestCluster.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.eventbus.link.LinkSecurity;
import io.eventbus.registry.AdministrationRefusedException;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.ClusterMember;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.MemberRole;
import io.eventbus.registry.RegistryAdministration;
import io.eventbus.registry.RegistryException;
import io.eventbus.registry.RegistryStatus;
import io.eventbus.registry.ratis.TestCluster.Node;
import io.eventbus.testing.TestPorts;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Operations for operators, on any bus of a running cluster. */
@Timeout(120)
class AdministrationIT {
  private static final Duration DEADLINE = Duration.ofSeconds(20);

  private final TestCluster cluster;

  AdministrationIT(@TempDir Path root) {
    this.cluster = new TestCluster(root);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  private static RegistryAdministration on(Node node) {
    return node.registry.administration();
  }

  private static String refusal(CompletionStage<?> stage) {
    ExecutionException e = catchThrowableOfType(ExecutionException.class, () -> await(stage));
    assertThat(e).as("refused").isNotNull();
    assertThat(e.getCause()).isInstanceOf(AdministrationRefusedException.class);
    return String.valueOf(e.getCause().getMessage());
  }

  private List<String> voters() throws Exception {
    return cluster.leader().registry.status().voters();
  }

  private String listener() throws Exception {
    Node leader = cluster.leader();
    until("there is a listener", () -> !leader.registry.status().listeners().isEmpty());
    return leader.registry.status().listeners().get(0);
  }

  @Test
  void statusAndMembersSayWhatThereIs() throws Exception {
    cluster.start(4);
    Node leader = cluster.leader();
    for (int i = 0; i < 10; i++) {
      await(TestCluster.create(leader.registry, "t" + i));
    }
    RegistryStatus status = on(leader).status();
    assertThat(status.role()).isEqualTo(MemberRole.LEADER);
    assertThat(status.leader()).isEqualTo(new BusId(leader.name));
    assertThat(status.bus()).isEqualTo(new BusId(leader.name));
    assertThat(status.cluster()).isEqualTo(leader.registry.status().cluster());
    assertThat(status.term()).isPositive();
    assertThat(status.version()).isGreaterThanOrEqualTo(10);
    assertThat(status.log().entries()).isGreaterThan(10);
    assertThat(status.log().bytes()).isPositive();
    assertThat(status.log().committedIndex()).isGreaterThan(10);
    assertThat(status.leaseAge()).isLessThan(cluster.lease);
    assertThat(status.commits().count()).isGreaterThanOrEqualTo(10);
    assertThat(status.commits().quantile(0.5)).isBetween(Duration.ofNanos(1), DEADLINE);
    String listener = listener();
    Node follower = cluster.follower();
    until(
        "it knows how far the others are",
        () -> on(follower).members().stream().allMatch(m -> m.logIndex() > 10));
    assertThat(on(follower).members())
        .hasSize(4)
        .allSatisfy(
            member -> {
              BusInfo info = member.info();
              assertThat(info).isNotNull();
              assertThat(info.state()).isEqualTo(BusState.UP);
              assertThat(member.address()).startsWith("127.0.0.1:");
              assertThat(member.leaseLeftMillis()).isBetween(1L, cluster.lease.toMillis());
            })
        .extracting(ClusterMember::role)
        .containsOnlyOnce(MemberRole.LEADER, MemberRole.LISTENER);
    RegistryStatus listening = on(cluster.node(listener)).status();
    assertThat(listening.role()).isEqualTo(MemberRole.LISTENER);
    assertThat(listening.leaderChanges()).isZero();
  }

  @Test
  void leadershipGoesToTheVoterThatIsNamedAskedOnAnyBus() throws Exception {
    cluster.start(4);
    String listener = listener();
    Node leader = cluster.leader();
    String next = voters().stream().filter(v -> !v.equals(leader.name)).findFirst().orElseThrow();
    assertThat(refusal(on(leader).transferLeadership(new BusId(listener), DEADLINE)))
        .startsWith("bus " + listener + " has no vote");
    await(on(cluster.node(listener)).transferLeadership(new BusId(next), DEADLINE));
    until("it leads", () -> cluster.currentLeader() == cluster.node(next));
    await(on(leader).transferLeadership(new BusId(next), DEADLINE));
    until("it is counted", () -> on(leader).status().leaderChanges() == 1);
  }

  @Test
  void aVoteMovesToTheBusThatIsPromotedAndBack() throws Exception {
    cluster.start(4);
    String listener = listener();
    Node leader = cluster.leader();
    assertThat(refusal(on(leader).promote(new BusId(listener), new BusId(leader.name), DEADLINE)))
        .startsWith("bus " + leader.name + " leads");
    String out = voters().stream().filter(v -> !v.equals(leader.name)).findFirst().orElseThrow();
    await(on(leader).promote(new BusId(listener), new BusId(out), DEADLINE));
    cluster.untilSettled(3);
    assertThat(voters()).contains(listener, leader.name).doesNotContain(out);
    await(on(cluster.node(out)).demote(new BusId(listener), DEADLINE));
    cluster.untilSettled(3);
    assertThat(voters()).contains(out, leader.name).doesNotContain(listener);
    await(on(leader).demote(new BusId(listener), DEADLINE));
    assertThat(refusal(on(leader).demote(new BusId(leader.name), DEADLINE))).contains("leads");
  }

  @Test
  void aBusIsRemovedOnlyWhenItIsDownAndNeverSoThatTheMajorityIsAtRisk() throws Exception {
    cluster.lease = Duration.ofSeconds(3);
    cluster.start(3);
    Node leader = cluster.leader();
    Node gone = cluster.follower();
    BusId id = new BusId(gone.name);
    assertThat(refusal(on(leader).remove(id, DEADLINE))).contains("is UP (expected: DOWN)");
    assertThat(refusal(on(leader).remove(new BusId("nobody"), DEADLINE)))
        .isEqualTo("no bus is called nobody");
    assertThat(refusal(on(gone).demote(id, DEADLINE))).contains("only 0 could fail (expected: 1");
    cluster.kill(gone);
    until(
        "it is DOWN",
        () -> {
          BusInfo info = leader.registry.snapshot().bus(id);
          return info != null && info.state() == BusState.DOWN;
        });
    await(on(leader).remove(id, DEADLINE));
    assertThat(leader.registry.snapshot().bus(id)).isNull();
    assertThat(voters()).hasSize(2).doesNotContain(gone.name);
    await(cluster.restart(gone));
    cluster.register(cluster.node(gone.name));
    cluster.untilSettled(3);
  }

  @Test
  void aBusThatWaitsForOthersIsInvitedAndOneOfAnotherClusterIsNot() throws Exception {
    cluster.start(1);
    Node first = cluster.leader();
    Endpoint nobody = new Endpoint("127.0.0.1", TestPorts.find());
    Node waiting = cluster.prepare("bus-w", LinkSecurity.none(), nobody);
    CompletionStage<Void> started = waiting.registry.start();
    assertThat(await(on(first).add(waiting.address, DEADLINE))).isEqualTo(new BusId("bus-w"));
    await(started);
    assertThat(waiting.registry.status().cluster()).isEqualTo(first.registry.status().cluster());
    Node other = cluster.prepare("bus-x", LinkSecurity.none());
    await(other.registry.start());
    assertThat(refusal(on(first).add(other.address, DEADLINE)))
        .contains(other.registry.status().cluster());
    ExecutionException e =
        catchThrowableOfType(
            ExecutionException.class, () -> await(on(first).add(nobody, Duration.ofMillis(300))));
    assertThat(e.getCause()).isInstanceOf(RegistryException.class);
  }

  @Test
  void aSnapshotIsTakenWhenAskedFor() throws Exception {
    cluster.start(1);
    Node only = cluster.leader();
    for (int i = 0; i < 10; i++) {
      await(TestCluster.create(only.registry, "t" + i));
    }
    assertThat(on(only).status().log().snapshotIndex()).isEqualTo(-1);
    long index = await(on(only).takeSnapshot(DEADLINE));
    assertThat(index).isGreaterThanOrEqualTo(10);
    assertThat(on(only).status().log().snapshotIndex()).isEqualTo(index);
    assertThat(only.directory.resolve("engine"))
        .isDirectoryRecursivelyContaining("glob:**/sm/snapshot.*");
  }

  @Test
  void beforeTheStartEverythingIsRefused() throws Exception {
    Node node = cluster.prepare("bus-a", LinkSecurity.none());
    assertThat(on(node).status().role()).isEqualTo(MemberRole.NONE);
    assertThat(on(node).members()).isEmpty();
    for (CompletionStage<?> stage :
        List.of(
            on(node).transferLeadership(new BusId("bus-a"), DEADLINE),
            on(node).takeSnapshot(DEADLINE),
            on(node).backup(DEADLINE),
            on(node).add(node.address, DEADLINE))) {
      ExecutionException e = catchThrowableOfType(ExecutionException.class, () -> await(stage));
      assertThat(e.getCause()).hasMessageContaining("lifecycle: NEW (expected: RUNNING)");
    }
  }
}
