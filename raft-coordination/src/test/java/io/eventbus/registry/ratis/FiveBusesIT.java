package io.eventbus.registry.ratis;

import static io.eventbus.registry.ratis.TestCluster.await;
import static io.eventbus.registry.ratis.TestCluster.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.membership.VoterPolicy;
import io.eventbus.registry.ratis.TestCluster.Node;
import io.eventbus.registry.ratis.admin.ClusterStatus;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Five voters are wanted; buses are lost for good, and others come. */
@Timeout(180)
class FiveBusesIT {
  private final TestCluster cluster;

  FiveBusesIT(@TempDir Path root) {
    this.cluster = new TestCluster(root);
    cluster.voters = 5;
    cluster.lease = Duration.ofSeconds(3);
    cluster.replaceVoterAfter = Duration.ofMillis(500);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void aVoterThatIsLostForGoodIsReplacedAndThereAreFiveHealthyOnes() throws Exception {
    cluster.start(6);
    Node lost = lostVoter();
    cluster.kill(lost);
    untilHealthy(5);
    ClusterStatus status = cluster.leader().registry.status();
    assertThat(status.voters()).doesNotContain(lost.name);
    assertThat(status.listeners()).as("it is taken in when it is back").isEmpty();
    await(TestCluster.create(cluster.leader().registry, "after"));
    await(cluster.restart(lost));
    TestCluster.until(
        "it listens",
        () -> cluster.node(lost.name).registry.status().role() == ClusterStatus.Role.LISTENER);
  }

  @Test
  @Tag("nightly")
  void withNobodyToReplaceThemThereAreAsManyVotersAsBusesUntilOthersCome() throws Exception {
    cluster.start(5);
    cluster.kill(lostVoter());
    untilHealthy(4);
    cluster.kill(lostVoter());
    untilHealthy(3);
    await(TestCluster.create(cluster.leader().registry, "with.three"));
    for (String name : List.of("bus-x", "bus-y")) {
      Node fresh =
          cluster.prepare(name, io.eventbus.link.LinkSecurity.none(), cluster.leader().address);
      await(fresh.registry.start());
      cluster.register(fresh);
    }
    untilHealthy(5);
    await(TestCluster.create(cluster.leader().registry, "with.five"));
  }

  private Node lostVoter() throws Exception {
    Node leader = cluster.leader();
    List<String> voters = leader.registry.status().voters();
    return cluster.nodes.values().stream()
        .filter(n -> n.up && n != leader && voters.contains(n.name))
        .findFirst()
        .orElseThrow();
  }

  /**
   * Waits until there are that many voters, each of them up, and checks all the while that the
   * cluster could always go on.
   */
  private void untilHealthy(int count) throws Exception {
    Node leader = cluster.leader();
    until(
        "there are " + count + " healthy voters",
        () -> {
          ClusterStatus status = leader.registry.status();
          RegistrySnapshot snapshot = leader.registry.snapshot();
          VoterPolicy.Situation situation =
              new VoterPolicy.Situation(
                  leader.name,
                  status.voters(),
                  status.listeners(),
                  snapshot,
                  snapshot.timeMillis());
          assertThat(VoterPolicy.spare(situation, status.voters())).isNotNegative();
          return status.voters().size() == count
              && !status.changing()
              && status.voters().stream().allMatch(v -> isUp(snapshot, v));
        });
  }

  private boolean isUp(RegistrySnapshot snapshot, String voter) {
    BusInfo info = snapshot.bus(new BusId(voter));
    return info != null && info.state() == BusState.UP && cluster.node(voter).up;
  }
}
