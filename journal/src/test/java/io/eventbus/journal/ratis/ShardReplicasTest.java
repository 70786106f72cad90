package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.ratis.TestReplicas.Node;
import io.eventbus.journal.ratis.TestShards.Read;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(240)
class ShardReplicasTest {
  private final Path directory;

  ShardReplicasTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private static List<Long> numbers(List<Read> all, String topic) {
    return all.stream().filter(read -> read.topic().equals(topic)).map(Read::number).toList();
  }

  /** Reads the journal at all buses that are up, where it has to be the same. */
  private static List<Read> readAll(TestReplicas replicas, int journal) {
    replicas.settle();
    List<Read> first = null;
    for (Node node : replicas.up()) {
      List<Read> read = TestShards.read(node.journals(), journal, TestShards.ALL);
      assertThat(read.stream().map(Read::position).toList())
          .as(node.id())
          .isEqualTo(LongStream.rangeClosed(1, read.size()).boxed().toList());
      if (first != null) {
        assertThat(read).as(node.id()).isEqualTo(first);
      }
      first = read;
    }
    return Objects.requireNonNull(first);
  }

  private static List<Thread> start(List<TestProducer> producers, List<Throwable> failures) {
    List<Thread> threads = new ArrayList<>();
    for (TestProducer producer : producers) {
      Thread thread = new Thread(producer, "producer " + producer.topic());
      thread.setUncaughtExceptionHandler(
          (failed, e) -> {
            synchronized (failures) {
              failures.add(e);
            }
          });
      thread.start();
      threads.add(thread);
    }
    return threads;
  }

  @Test
  void publishersAtAllBusesShareOneOrder() throws Exception {
    try (TestReplicas replicas = TestReplicas.start(directory, 3, 0)) {
      int journal = replicas.create(TestShards.definition("orders"));
      List<TestProducer> producers = new ArrayList<>();
      for (Node node : replicas.nodes()) {
        for (int i = 0; i < 3; i++) {
          producers.add(
              new TestProducer(
                  node.journals(), journal, node.id() + i, 200, new CountDownLatch(1)));
        }
      }
      List<Throwable> failures = new ArrayList<>();
      for (Thread thread : start(producers, failures)) {
        thread.join();
      }
      assertThat(failures).isEmpty();
      List<Read> all = readAll(replicas, journal);
      assertThat(all).hasSize(9 * 200);
      List<Long> expected = LongStream.rangeClosed(1, 200).boxed().toList();
      for (TestProducer producer : producers) {
        assertThat(producer.others()).isEmpty();
        assertThat(producer.confirmed()).isEqualTo(expected);
        assertThat(numbers(all, producer.topic())).isEqualTo(expected);
      }
    }
  }

  @Test
  void aLeaderThatIsKilledTakesNothingConfirmedWithItAndTheOthersGoOn() throws Exception {
    try (TestReplicas replicas = TestReplicas.start(directory, 3, 0)) {
      int journal = replicas.create(TestShards.definition("orders"));
      for (int kill = 0; kill < 2; kill++) {
        Node leader = replicas.leader();
        List<TestProducer> survivors = new ArrayList<>();
        List<TestProducer> lost = new ArrayList<>();
        CountDownLatch some = new CountDownLatch(5);
        for (Node node : replicas.up()) {
          for (int i = 0; i < 2; i++) {
            String name = node.id() + "." + kill + "." + i;
            if (node == leader) {
              lost.add(new TestProducer(node.journals(), journal, name, 1_000_000, some));
            } else {
              survivors.add(new TestProducer(node.journals(), journal, name, 2_000, some));
            }
          }
        }
        some.countDown();
        List<Throwable> failures = new ArrayList<>();
        List<Thread> threads = start(survivors, failures);
        threads.addAll(start(lost, failures));
        assertThat(some.await(60, TimeUnit.SECONDS)).isTrue();
        replicas.kill(leader);
        for (Thread thread : threads) {
          thread.join();
        }
        assertThat(failures).isEmpty();
        List<Read> all = readAll(replicas, journal);
        for (TestProducer producer : survivors) {
          assertThat(producer.others()).isEmpty();
          assertThat(numbers(all, producer.topic()))
              .isEqualTo(LongStream.rangeClosed(1, 2_000).boxed().toList());
        }
        for (TestProducer producer : lost) {
          assertThat(producer.isAnswered()).isTrue();
          List<Long> found = numbers(all, producer.topic());
          assertThat(found).containsAll(producer.confirmed());
          assertThat(found).isEqualTo(LongStream.rangeClosed(1, found.size()).boxed().toList());
        }
        replicas.start(leader);
        assertThat(readAll(replicas, journal)).isEqualTo(all);
      }
    }
  }

  @Test
  void aReplicaThatWasAwayCatchesUpAndAllComeBackTogether() throws Exception {
    try (TestReplicas replicas = TestReplicas.start(directory, 3, 0)) {
      int journal = replicas.create(TestShards.definition("orders"));
      publish(replicas, journal, 1, 20);
      Node away = replicas.others(replicas.leader()).get(0);
      replicas.stop(away);
      publish(replicas, journal, 21, 40);
      replicas.start(away);
      List<Read> all = readAll(replicas, journal);
      assertThat(numbers(all, "a")).isEqualTo(LongStream.rangeClosed(1, 40).boxed().toList());

      replicas.stopAll();
      replicas.startAll();
      assertThat(readAll(replicas, journal)).isEqualTo(all);
      publish(replicas, journal, 41, 50);
      assertThat(readAll(replicas, journal)).hasSize(50);
    }
  }

  private static void publish(TestReplicas replicas, int journal, long from, long to)
      throws InterruptedException {
    for (long i = from; i <= to; i++) {
      List<Node> up = replicas.up();
      Node node = up.get((int) (i % up.size()));
      TestShards.await(TestShards.publish(node.journals(), journal, "a", "p", i, 1).result());
    }
  }

  @Test
  void aLeaderThatIsClosedHandsOver() throws IOException, InterruptedException {
    try (TestReplicas replicas = TestReplicas.start(directory, 3, 0)) {
      replicas.settle();
      Node leader = replicas.leader();
      List<Node> others = replicas.others(leader);
      replicas.stop(leader);
      assertThat(others.stream().map(node -> node.status().leader()).toList())
          .as("leaders as the others know them at once")
          .doesNotContain(leader.id());
    }
  }
}
