package io.eventbus.registry.ratis;

import static io.eventbus.registry.ratis.TestCluster.await;
import static io.eventbus.registry.ratis.TestCluster.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.Departure;
import io.eventbus.registry.DepartureReport;
import io.eventbus.registry.ratis.TestCluster.Node;
import io.eventbus.registry.ratis.admin.ClusterStatus;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Departure of a bus, which first hands over its roles. */
@Timeout(120)
class LeavingIT {
  private static final Duration DEADLINE = Duration.ofSeconds(20);

  private final TestCluster cluster;

  LeavingIT(@TempDir Path root) {
    this.cluster = new TestCluster(root);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  /**
   * Measures an election that is not needed: the others wait a minute at least before they stand
   * for one; nothing here waits so long.
   */
  @Test
  void aLeaderThatLeavesInterruptsWritesForLessThanAnElectionTakes() throws Exception {
    cluster.lease = Duration.ofSeconds(30);
    cluster.electionTimeoutMin = Duration.ofSeconds(2);
    cluster.start(1);
    cluster.electionTimeoutMin = Duration.ofSeconds(60);
    cluster.start(3);
    Node leader = cluster.leader();
    Node writing = cluster.follower();
    Writer writer = new Writer(writing);
    writer.start();
    until("it writes", () -> writer.written.get() >= 20);
    DepartureReport report =
        await(leader.registry.administration().leave(Departure.STOP, DEADLINE));
    assertThat(report.leads()).isFalse();
    assertThat(report.votes()).as("nobody is there to take it").isTrue();
    assertThat(report.detail()).isEqualTo("no other bus is there to take the vote");
    cluster.kill(leader);
    int before = writer.written.get();
    until("it goes on writing", () -> writer.written.get() >= before + 20);
    writer.end();
    assertThat(writer.error.get()).isNull();
    assertThat(cluster.leader()).isNotSameAs(leader);
  }

  @Test
  void aVoterThatLeavesGivesItsVoteToAListenerAndComesBackAsOne() throws Exception {
    cluster.start(4);
    Node leader = cluster.leader();
    DepartureReport report =
        await(leader.registry.administration().leave(Departure.STOP, DEADLINE));
    assertThat(report).isEqualTo(new DepartureReport(false, false, true, ""));
    cluster.kill(leader);
    Node next = cluster.leader();
    ClusterStatus status = next.registry.status();
    assertThat(status.voters()).hasSize(3).doesNotContain(leader.name);
    assertThat(status.listeners()).containsExactly(leader.name);
    await(cluster.restart(leader));
    Node back = cluster.node(leader.name);
    cluster.register(back);
    until("it listens", () -> back.registry.status().role() == ClusterStatus.Role.LISTENER);
    await(TestCluster.create(back.registry, "after"));
  }

  @Test
  void aBusThatLeavesForGoodIsForgottenAndAPairRemainsThatDecides() throws Exception {
    cluster.start(3);
    Node leaver = cluster.leader();
    assertThat(leaver.keeper).isNotNull();
    await(leaver.keeper.become(BusState.DRAINING));
    leaver.leave();
    DepartureReport report =
        await(leaver.registry.administration().leave(Departure.FOR_GOOD, DEADLINE));
    assertThat(report).isEqualTo(new DepartureReport(false, false, false, ""));
    cluster.kill(leaver);
    Node next = cluster.leader();
    assertThat(next.registry.status().voters()).hasSize(2).doesNotContain(leaver.name);
    assertThat(next.registry.status().listeners()).isEmpty();
    until("it is forgotten", () -> next.registry.snapshot().bus(new BusId(leaver.name)) == null);
    await(TestCluster.create(cluster.follower().registry, "after"));
  }

  @Test
  void theLastBusHasNobodyToHandOverTo() throws Exception {
    cluster.start(1);
    Node only = cluster.node("bus-a");
    DepartureReport report =
        await(only.registry.administration().leave(Departure.FOR_GOOD, DEADLINE));
    assertThat(report)
        .isEqualTo(new DepartureReport(true, true, true, "no other voter is there to lead"));
    BusInfo info = only.registry.snapshot().bus(new BusId("bus-a"));
    assertThat(info).isNotNull();
    assertThat(info.state()).isEqualTo(BusState.DRAINING);
  }

  @Test
  void theOnlyVoterGivesEverythingToTheBusThatListens() throws Exception {
    cluster.voters = 1;
    cluster.start(2);
    Node leaver = cluster.leader();
    assertThat(await(leaver.registry.administration().leave(Departure.STOP, DEADLINE)))
        .isEqualTo(new DepartureReport(false, false, true, ""));
    cluster.kill(leaver);
    assertThat(cluster.leader()).isNotSameAs(leaver);
    await(TestCluster.create(cluster.leader().registry, "after"));
  }

  /** Thread that writes one topic after the other. */
  private static final class Writer extends Thread {
    final AtomicInteger written = new AtomicInteger();
    final AtomicReference<@Nullable Exception> error = new AtomicReference<>();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final Node node;

    Writer(Node node) {
      super("writer");
      this.node = node;
      setDaemon(true);
    }

    @Override
    public void run() {
      try {
        while (!ended.get()) {
          await(TestCluster.create(node.registry, "t" + written.get()));
          written.incrementAndGet();
        }
      } catch (Exception e) {
        error.set(e);
      }
    }

    void end() throws InterruptedException {
      ended.set(true);
      join(60_000);
    }
  }
}
