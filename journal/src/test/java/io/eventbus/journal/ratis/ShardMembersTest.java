package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.RecordResult.Published;
import io.eventbus.journal.ratis.TestReplicas.Node;
import io.eventbus.journal.ratis.TestShards.Answer;
import io.eventbus.journal.ratis.TestShards.Read;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(400)
class ShardMembersTest {
  private final Path directory;

  ShardMembersTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private static void publish(TestReplicas replicas, int journal, long from, long to)
      throws InterruptedException {
    for (long i = from; i <= to; i++) {
      List<Node> up = replicas.up();
      Node node = up.get((int) (i % up.size()));
      Answer answer = TestShards.publish(node.journals(), journal, "a", "p", i, 1);
      assertThat(TestShards.await(answer.result())).isInstanceOf(Published.class);
    }
  }

  /** Checks that a bus has all events in their order, without a gap. */
  private static List<Read> assertAll(Node node, int journal) {
    List<Read> read = TestShards.read(node.journals(), journal, TestShards.ALL);
    assertThat(read.stream().map(Read::position).toList())
        .as(node.id())
        .isEqualTo(LongStream.rangeClosed(1, read.size()).boxed().toList());
    return read;
  }

  /** Has the log of every bus begin as late as it may, behind its first entry. */
  private static void cutLogs(TestReplicas replicas, int journal, long sequence)
      throws InterruptedException {
    // Only whole files are cut, and one has up to 8 MB.
    long next = sequence;
    for (int i = 0; i < 60; i++) {
      Answer answer = new Answer();
      assertThat(
              replicas
                  .leader()
                  .journals()
                  .append(
                      TestShards.head(journal, "large", "l", next),
                      TestShards.events(next, 10, 20_000),
                      answer))
          .isTrue();
      assertThat(TestShards.await(answer.result())).isInstanceOf(Published.class);
      next += 10;
    }
    replicas.settle();
    TestReplicas.until(
        "the logs are cut",
        () -> {
          replicas.up().forEach(ShardMembersTest::cut);
          return replicas.up().stream().allMatch(node -> node.journals().shard().logBegin() > 0);
        });
  }

  private static void cut(Node node) {
    ShardServer shard = node.journals().shard();
    try {
      assertThat(shard.store().flush(Duration.ofSeconds(60))).isTrue();
      shard.cutter().check();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static List<String> voters(Node node) {
    return node.status().members().stream()
        .filter(ShardStatus.Member::voter)
        .map(ShardStatus.Member::id)
        .sorted()
        .toList();
  }

  private static List<String> ids(List<Node> nodes) {
    return nodes.stream().map(Node::id).sorted().toList();
  }

  @Test
  void oneVoterAndTwoListenersBecomeThreeVotersAndAFourthFollows() throws Exception {
    try (TestReplicas replicas = TestReplicas.start(directory, 1, 2)) {
      int journal = replicas.create(TestShards.definition("orders"));
      publish(replicas, journal, 1, 20);
      List<Node> voters = List.copyOf(replicas.nodes());
      replicas.change(TestReplicas.members(voters, List.of()));
      replicas.settle();
      for (Node node : voters) {
        TestReplicas.until("the voters are known", () -> voters(node).equals(ids(voters)));
        assertThat(node.status().takenOut()).isFalse();
      }

      // By now one may end.
      Node first = replicas.leader();
      replicas.kill(first);
      replicas.settle();
      publish(replicas, journal, 21, 30);
      replicas.start(first);

      Node fourth = replicas.add();
      replicas.start(fourth);
      assertThat(fourth.status().takenOut()).isFalse();
      replicas.change(TestReplicas.members(voters, List.of(fourth)));
      publish(replicas, journal, 31, 40);
      replicas.settle();
      List<Read> all = assertAll(fourth, journal);
      assertThat(all).hasSize(40);
      for (Node node : replicas.up()) {
        assertThat(assertAll(node, journal)).isEqualTo(all);
      }
      assertThat(voters(fourth)).isEqualTo(ids(voters));
      assertThat(fourth.status().members()).hasSize(4);
    }
  }

  @Test
  void aDeadVoterIsReplacedByAListenerWhileEventsArePublished() throws Exception {
    try (TestReplicas replicas = TestReplicas.start(directory, 3, 1)) {
      int journal = replicas.create(TestShards.definition("orders"));
      // The listener is sent nothing again that it has, which would not be there.
      cutLogs(replicas, journal, 1);
      Node listener = replicas.nodes().get(3);
      Node dead = replicas.others(replicas.leader()).get(0);
      assertThat(dead).isNotSameAs(listener);
      List<TestProducer> producers = new ArrayList<>();
      CountDownLatch some = new CountDownLatch(3);
      for (Node node : replicas.others(dead)) {
        producers.add(new TestProducer(node.journals(), journal, node.id(), 4_000, some));
      }
      List<Throwable> failures = new ArrayList<>();
      List<Thread> threads = new ArrayList<>();
      for (TestProducer producer : producers) {
        Thread thread = new Thread(producer, "producer " + producer.topic());
        thread.setUncaughtExceptionHandler(
            (failed, e) -> {
              synchronized (failures) {
                failures.add(e);
              }
            });
        threads.add(thread);
        thread.start();
      }
      assertThat(some.await(150, TimeUnit.SECONDS)).isTrue();
      replicas.kill(dead);
      List<Node> voters = replicas.up();
      replicas.change(TestReplicas.members(voters, List.of()));
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(failures).isEmpty();
      replicas.settle();
      List<Read> all = assertAll(listener, journal);
      for (TestProducer producer : producers) {
        assertThat(producer.others()).isEmpty();
        assertThat(
                all.stream()
                    .filter(read -> read.topic().equals(producer.topic()))
                    .map(Read::number)
                    .toList())
            .isEqualTo(LongStream.rangeClosed(1, 4_000).boxed().toList());
        producer.assertPositions(all);
      }
      for (Node node : voters) {
        assertThat(assertAll(node, journal)).isEqualTo(all);
        TestReplicas.until("the voters are known", () -> voters(node).equals(ids(voters)));
      }

      // The new voter is one of the two that are needed.
      Node other = voters.stream().filter(node -> node != listener).findFirst().orElseThrow();
      replicas.kill(other);
      replicas.settle();
      publish(replicas, journal, 1, 5);
    }
  }

  @Test
  void aReplicaThatIsTakenOutKnowsItAndALeaderGivesUpItsVoteByHandingOver() throws Exception {
    try (TestReplicas replicas = TestReplicas.start(directory, 3, 1)) {
      int journal = replicas.create(TestShards.definition("orders"));
      publish(replicas, journal, 1, 10);
      Node listener = replicas.nodes().get(3);
      Node leader = replicas.leader();
      List<Node> voters =
          replicas.nodes().stream().filter(node -> node != listener && node != leader).toList();
      // The first leader cannot: the next one does.
      replicas.change(TestReplicas.members(voters, List.of()));
      TestReplicas.until("the listener knows", () -> listener.status().takenOut());
      TestReplicas.until("the former leader knows", () -> leader.status().takenOut());
      for (Node node : voters) {
        TestReplicas.until("the voters are known", () -> voters(node).equals(ids(voters)));
        assertThat(node.status().members()).hasSize(2);
        assertThat(node.status().takenOut()).isFalse();
      }
      replicas.stop(listener);
      replicas.stop(leader);
      publish(replicas, journal, 11, 20);
      for (Node node : voters) {
        replicas.settle();
        assertThat(assertAll(node, journal)).hasSize(20);
      }
    }
  }

  @Test
  void onlyTheLeaderChangesMembersAndOneChangeIsMadeAtATime() throws Exception {
    try (TestReplicas replicas = TestReplicas.start(directory, 2, 0)) {
      List<Node> voters = List.copyOf(replicas.nodes());
      Node away = replicas.add();
      Node leader = replicas.leader();
      Node other = replicas.others(leader).get(0);
      replicas.settle();
      List<ShardMember> wanted = TestReplicas.members(voters, List.of(away));
      CompletableFuture<Void> elsewhere = other.journals().changeMembers(wanted);
      assertThatThrownBy(() -> elsewhere.get(60, TimeUnit.SECONDS))
          .cause()
          .isInstanceOf(JournalsUnavailableException.class)
          .hasMessageContaining("leads (expected: " + other.id() + ")");

      CompletableFuture<Void> first = leader.journals().changeMembers(wanted);
      CompletableFuture<Void> second = leader.journals().changeMembers(wanted);
      assertThatThrownBy(() -> second.get(60, TimeUnit.SECONDS))
          .cause()
          .isInstanceOf(JournalsUnavailableException.class)
          .hasMessageContaining("a change is under way");
      // The bus is away.
      assertThatThrownBy(() -> first.get(200, TimeUnit.SECONDS))
          .cause()
          .isInstanceOf(JournalsUnavailableException.class)
          .hasMessageContaining("not changed");
      assertThat(leader.status().members()).hasSize(2);

      replicas.start(away);
      replicas.change(wanted);
      assertThat(replicas.leader().status().members()).hasSize(3);
      assertThatThrownBy(() -> leader.journals().changeMembers(List.of()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("at least one of which votes");
    }
  }
}
