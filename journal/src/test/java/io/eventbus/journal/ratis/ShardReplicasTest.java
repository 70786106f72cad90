package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.journal.AppliedChanges;
import io.eventbus.journal.Journals;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.Published;
import io.eventbus.journal.Retention;
import io.eventbus.journal.ratis.TestReplicas.Node;
import io.eventbus.journal.ratis.TestShards.Answer;
import io.eventbus.journal.ratis.TestShards.Read;
import io.eventbus.journal.store.FlushPolicy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(400)
class ShardReplicasTest {
  private final Path directory;

  ShardReplicasTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private static List<Long> numbers(List<Read> all, String topic) {
    return all.stream().filter(read -> read.topic().equals(topic)).map(Read::number).toList();
  }

  /** Reads the journal at all buses that are up, where it has to be the same. */
  private static List<Read> readAll(TestReplicas replicas, int journal)
      throws InterruptedException {
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
        producer.assertPositions(all);
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
        assertThat(some.await(150, TimeUnit.SECONDS)).isTrue();
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
          producer.assertPositions(all);
        }
        for (TestProducer producer : lost) {
          assertThat(producer.isAnswered()).isTrue();
          List<Long> found = numbers(all, producer.topic());
          assertThat(found).containsAll(producer.confirmed());
          producer.assertPositions(all);
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

  /**
   * Elections take 5 s, and the links stay: only by a hand-over is there another leader at once.
   */
  @Test
  void aLeaderThatIsClosedHandsOver() throws IOException, InterruptedException {
    try (TestReplicas replicas =
        new TestReplicas(
            directory,
            3,
            0,
            options ->
                TestReplicas.tuned(
                    options,
                    Duration.ofSeconds(90),
                    Duration.ofSeconds(5),
                    FlushPolicy.DEFAULT,
                    4L << 30))) {
      replicas.startAll();
      boolean handedOver = false;
      // The deadline of a hand-over is short: it may pass while the machine is busy.
      for (int attempt = 0; attempt < 3 && !handedOver; attempt++) {
        replicas.settle();
        Node leader = replicas.leader();
        replicas.stopShard(leader);
        handedOver =
            replicas.up().stream().noneMatch(node -> leader.id().equals(node.status().leader()));
        replicas.stopLinks(leader);
        replicas.start(leader);
      }
      assertThat(handedOver).isTrue();
    }
  }

  private static ShardOptions impatient(ShardOptions options) {
    ShardOptions.Tuning tuning = options.tuning();
    return TestReplicas.tuned(
        options,
        Duration.ofSeconds(2),
        tuning.electionTimeoutMin(),
        FlushPolicy.DEFAULT,
        tuning.maxLogBytes());
  }

  /** Publishes until the outcome is known, as a publisher does. */
  private static RecordResult repeat(Journals journals, int journal, long sequence)
      throws InterruptedException {
    AtomicReference<RecordResult> result = new AtomicReference<>();
    TestReplicas.until(
        "event " + sequence + " is published",
        () -> {
          Answer answer = TestShards.publish(journals, journal, "a", "p", sequence, 1);
          try {
            result.set(answer.result().get(60, TimeUnit.SECONDS));
            return true;
          } catch (ExecutionException e) {
            return false;
          } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError(e);
          }
        });
    return Objects.requireNonNull(result.get());
  }

  @Test
  void oneBusIsToldThatItLedForAnEntry() throws Exception {
    try (TestReplicas replicas = new TestReplicas(directory, 3, 0, ShardReplicasTest::impatient)) {
      replicas.startAll();
      int journal = replicas.create(TestShards.definition("orders"));
      ConcurrentMap<Long, List<String>> led = new ConcurrentHashMap<>();
      for (Node node : replicas.nodes()) {
        Journals.Watch unused = node.journals().watch(changes -> note(led, node, changes));
      }
      for (int i = 1; i <= 10; i++) {
        assertThat(repeat(replicas.up().get(i % 3).journals(), journal, i))
            .isInstanceOf(Published.class);
      }
      replicas.settle();
      assertThat(led).hasSize(10);
      assertThat(led.values()).allMatch(buses -> buses.size() == 1);

      Node leader = replicas.leader();
      replicas.kill(leader);
      for (int i = 11; i <= 20; i++) {
        assertThat(repeat(replicas.up().get(i % 2).journals(), journal, i))
            .isInstanceOf(Published.class);
      }
      replicas.settle();
      assertThat(led).hasSize(20);
      assertThat(led.values()).allMatch(buses -> buses.size() == 1);
      assertThat(led.get(20L)).doesNotContain(leader.bus());
    }
  }

  private static void note(
      ConcurrentMap<Long, List<String>> led, Node node, AppliedChanges changes) {
    for (AppliedChanges.AppliedChunk chunk : changes.chunks()) {
      for (long position = chunk.from(); position <= chunk.to() && changes.leads(); position++) {
        led.computeIfAbsent(position, p -> new CopyOnWriteArrayList<>()).add(node.bus());
      }
    }
  }

  @Test
  void aReplicaAloneReadsAndWritesWhenAnotherIsBack() throws Exception {
    try (TestReplicas replicas = new TestReplicas(directory, 3, 0, ShardReplicasTest::impatient)) {
      replicas.startAll();
      int journal = replicas.create(TestShards.definition("orders"));
      assertThat(repeat(replicas.leader().journals(), journal, 1)).isInstanceOf(Published.class);
      replicas.settle();
      replicas.stopAll();

      Node alone = replicas.nodes().get(0);
      replicas.start(alone);
      assertThat(TestShards.read(alone.journals(), journal, TestShards.ALL))
          .containsExactly(new Read(1, "a", 1));
      assertThat(alone.journals().catalog().find(journal)).isNotNull();
      CompletableFuture<RecordResult> unknown =
          TestShards.publish(alone.journals(), journal, "a", "p", 2, 1).result();
      assertThatThrownBy(() -> unknown.get(60, TimeUnit.SECONDS))
          .cause()
          .isInstanceOf(JournalsUnavailableException.class);
      CompletableFuture<Void> barrier = alone.journals().appliedUpToNow().toCompletableFuture();
      assertThatThrownBy(() -> barrier.get(60, TimeUnit.SECONDS))
          .cause()
          .isInstanceOf(JournalsUnavailableException.class)
          .hasMessageContaining("expected: a leader");
      assertThat(alone.status().ready()).isFalse();
      assertThat(alone.status().leader()).isNull();

      replicas.start(replicas.nodes().get(1));
      TestReplicas.until("both are ready", () -> alone.status().ready());
      assertThat(alone.status().ready()).isTrue();
      // What was asked for in vain is stored now, once.
      assertThat(repeat(alone.journals(), journal, 2))
          .isInstanceOfSatisfying(
              Published.class, again -> assertThat(again.position()).isEqualTo(2));
      assertThat(numbers(readAll(replicas, journal), "a")).containsExactly(1L, 2L);
    }
  }

  @Test
  void aListenerGetsTheLogAndHasNoVote() throws Exception {
    try (TestReplicas replicas = new TestReplicas(directory, 3, 1, ShardReplicasTest::impatient)) {
      replicas.startAll();
      int journal = replicas.create(TestShards.definition("orders"));
      Node listener = replicas.nodes().get(3);
      for (long i = 1; i <= 10; i++) {
        assertThat(repeat(listener.journals(), journal, i))
            .isInstanceOfSatisfying(
                Published.class, done -> assertThat(done.position()).isPositive());
      }
      assertThat(numbers(readAll(replicas, journal), "a"))
          .isEqualTo(LongStream.rangeClosed(1, 10).boxed().toList());
      assertThat(listener.status().members())
          .extracting(ShardStatus.Member::voter)
          .containsExactlyInAnyOrder(true, true, true, false);

      Node leader = replicas.leader();
      Node voter = replicas.others(leader).get(0);
      replicas.kill(leader);
      replicas.kill(voter);
      assertThat(replicas.up()).hasSize(2);
      // A voter and the listener are two of four, and no majority of three.
      for (Node node : replicas.up()) {
        CompletableFuture<RecordResult> unknown =
            TestShards.publish(node.journals(), journal, "b", node.id(), 1, 1).result();
        assertThatThrownBy(() -> unknown.get(60, TimeUnit.SECONDS))
            .cause()
            .isInstanceOf(JournalsUnavailableException.class);
      }
      replicas.start(voter);
      for (Node node : replicas.up()) {
        TestReplicas.until("a majority is back", () -> node.status().ready());
      }
      assertThat(repeat(listener.journals(), journal, 11)).isInstanceOf(Published.class);
    }
  }

  @Test
  void theLogIsKeptForAReplicaThatIsAwayForAWhileAndIsCutWhenItIsBack() throws Exception {
    try (TestReplicas replicas = TestReplicas.start(directory, 3, 0)) {
      int journal = replicas.create(TestShards.definition("orders", new Retention(0, 4 << 20, 0)));
      Node away = replicas.others(replicas.leader()).get(0);
      replicas.stop(away);
      // More than two files of the log.
      for (long sequence = 1; sequence <= 1_000; sequence += 10) {
        Answer answer = new Answer();
        assertThat(
                replicas
                    .leader()
                    .journals()
                    .append(
                        TestShards.head(journal, "a", "p", sequence),
                        TestShards.events(sequence, 10, 20_000),
                        answer))
            .isTrue();
        assertThat(TestShards.await(answer.result())).isInstanceOf(Published.class);
      }
      replicas.settle();
      cut(replicas);
      assertThat(isLogWhole(replicas)).isTrue();
      replicas.start(away);
      replicas.settle();
      assertThat(away.status().needsCopy()).isFalse();
      assertThat(Objects.requireNonNull(away.journals().figures(journal)).lastPosition())
          .isEqualTo(1_000);
      TestReplicas.until(
          "the log is cut",
          () -> {
            cut(replicas);
            return !isLogWhole(replicas);
          });
    }
  }

  /** Has the logs cut as far as they may be. */
  private static void cut(TestReplicas replicas) {
    for (Node node : replicas.up()) {
      ShardServer shard = node.journals().shard();
      try {
        assertThat(shard.store().flush(Duration.ofSeconds(60))).isTrue();
        shard.cutter().check();
      } catch (ExecutionException | InterruptedException | IOException e) {
        throw new AssertionError(e);
      }
    }
  }

  /** Returns whether the log begins with its first file at a replica that is up. */
  private boolean isLogWhole(TestReplicas replicas) {
    for (Node node : replicas.up()) {
      try (Stream<Path> files = Files.walk(directory.resolve(node.bus()))) {
        if (files.anyMatch(
            file -> {
              String name = file.getFileName().toString();
              return name.startsWith("log_0-") || name.equals("log_inprogress_0");
            })) {
          return true;
        }
      } catch (IOException | UncheckedIOException e) {
        // A file was deleted meanwhile.
        return true;
      }
    }
    return false;
  }
}
