package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.JournalFigures;
import io.eventbus.journal.RecordResult.Published;
import io.eventbus.journal.Retention;
import io.eventbus.journal.ratis.TestReplicas.Node;
import io.eventbus.journal.ratis.TestShards.Answer;
import io.eventbus.journal.ratis.TestShards.Read;
import io.eventbus.journal.store.FlushPolicy;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Replicas that lack what is gone from the logs of the others. */
@Timeout(400)
class ShardCopiesTest {
  private static final long MAX_LOG = 12L << 20;
  private static final long FAST = 1L << 40;
  private static final long SLOW = 2L << 20;

  private final Path directory;
  private long sequence = 1;

  ShardCopiesTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private TestReplicas start(int voters, int listeners, long copyBytesPerSecond)
      throws IOException {
    FlushPolicy often = new FlushPolicy(1 << 20, Duration.ofDays(1));
    TestReplicas replicas =
        new TestReplicas(
            directory,
            voters,
            listeners,
            options ->
                TestReplicas.tuned(
                    options,
                    Duration.ofSeconds(90),
                    options.tuning().electionTimeoutMin(),
                    often,
                    MAX_LOG,
                    copyBytesPerSecond));
    replicas.startAll();
    return replicas;
  }

  private static int create(TestReplicas replicas) throws InterruptedException {
    return replicas.create(TestShards.definition("orders", new Retention(0, 6 << 20, 0)));
  }

  /** Publishes large events, 200 KB with each call. */
  private void publish(Node node, int journal, int calls) {
    for (int i = 0; i < calls; i++) {
      Answer answer = new Answer();
      assertThat(
              node.journals()
                  .append(
                      TestShards.head(journal, "large", "l", sequence),
                      TestShards.events(sequence, 10, 20_000),
                      answer))
          .isTrue();
      assertThat(TestShards.await(answer.result())).isInstanceOf(Published.class);
      sequence += 10;
    }
  }

  /** Publishes until no bus that is up has the first entries in its log. */
  private void publishUntilCut(TestReplicas replicas, int journal) throws InterruptedException {
    publishUntil(
        replicas,
        journal,
        () -> replicas.up().stream().allMatch(node -> node.journals().shard().logBegin() > 0));
  }

  private void publishUntil(TestReplicas replicas, int journal, BooleanSupplier done)
      throws InterruptedException {
    while (!done.getAsBoolean()) {
      publish(replicas.leader(), journal, 5);
      assertThat(sequence).as("events until the logs are cut").isLessThan(20_000);
    }
  }

  /** Leaves a bus behind, which is stopped. */
  private void leaveBehind(TestReplicas replicas, Node away, int journal)
      throws InterruptedException {
    replicas.settle();
    long end = away.journals().shard().logEnd();
    replicas.stop(away);
    publishUntil(
        replicas,
        journal,
        () -> replicas.up().stream().allMatch(node -> node.journals().shard().logBegin() > end));
  }

  /**
   * Checks that all buses that are up have the same events, without a gap. Retention may go on
   * while they are read: compared is what it has left at all of them afterwards.
   */
  private static List<Read> assertSame(TestReplicas replicas, int journal)
      throws InterruptedException {
    replicas.settle();
    List<List<Read>> all = new ArrayList<>();
    for (Node node : replicas.up()) {
      all.add(TestShards.read(node.journals(), journal, TestShards.ALL));
    }
    long begin = 1;
    long end = 0;
    for (Node node : replicas.up()) {
      JournalFigures figures = Objects.requireNonNull(node.journals().figures(journal));
      begin = Math.max(begin, figures.firstPosition());
      end = Math.max(end, figures.lastPosition());
    }
    long first = begin;
    List<Read> expected = null;
    for (List<Read> each : all) {
      List<Read> left = each.stream().filter(read -> read.position() >= first).toList();
      assertThat(left)
          .extracting(Read::position)
          .isEqualTo(LongStream.rangeClosed(first, end).boxed().toList());
      if (expected != null) {
        assertThat(left).isEqualTo(expected);
      }
      expected = left;
    }
    return Objects.requireNonNull(expected);
  }

  private static ShardStatus.@Nullable Copy copy(Node node) {
    ShardStatus status = node.journals().status();
    return status == null ? null : status.copy();
  }

  private static boolean isCopying(Node node) {
    ShardStatus.Copy copy = copy(node);
    return copy != null && copy.bytes() > 0;
  }

  private static boolean isReady(Node node) {
    ShardStatus status = node.journals().status();
    return status != null && status.ready();
  }

  /** Counts the copies that a bus takes, as its status tells. */
  private static final class Copies implements Runnable {
    private final Node node;
    private final AtomicBoolean ended = new AtomicBoolean();
    private final AtomicInteger count = new AtomicInteger();
    private final Thread thread = new Thread(this, "copies");

    Copies(Node node) {
      this.node = node;
      thread.start();
    }

    @Override
    public void run() {
      boolean before = false;
      while (!ended.get()) {
        boolean now = copy(node) != null;
        if (now && !before) {
          count.incrementAndGet();
        }
        before = now;
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
      }
    }

    int end() throws InterruptedException {
      ended.set(true);
      thread.join();
      return count.get();
    }
  }

  @Test
  void aReplicaThatWasAwayForTooLongComesBackWhileEventsArePublished() throws Exception {
    try (TestReplicas replicas = start(3, 0, SLOW)) {
      int journal = create(replicas);
      publish(replicas.leader(), journal, 2);
      Node away = replicas.others(replicas.leader()).get(0);
      leaveBehind(replicas, away, journal);
      List<TestProducer> producers = new ArrayList<>();
      List<Throwable> failures = new ArrayList<>();
      List<Thread> threads = new ArrayList<>();
      for (Node node : replicas.up()) {
        TestProducer producer =
            new TestProducer(node.journals(), journal, node.id(), 3_000, new CountDownLatch(1));
        producers.add(producer);
        Thread thread = new Thread(producer);
        thread.setUncaughtExceptionHandler(
            (failed, e) -> {
              synchronized (failures) {
                failures.add(e);
              }
            });
        threads.add(thread);
      }
      replicas.start(away);
      assertThat(away.journals().knowsJournals()).isTrue();
      threads.forEach(Thread::start);
      TestReplicas.until("a copy is under way", () -> isCopying(away));
      assertThat(away.status().ready()).isFalse();
      assertThat(away.status().needsCopy()).isTrue();
      assertThat(Objects.requireNonNull(copy(away)).source())
          .isEqualTo(
              replicas.others(replicas.leader()).stream()
                  .filter(n -> n != away)
                  .findFirst()
                  .orElseThrow()
                  .id());
      assertThat(away.journals().catalog().find(journal)).isNotNull();
      for (Thread thread : threads) {
        thread.join();
      }
      TestReplicas.until("the replica has caught up", () -> isReady(away));
      assertThat(failures).isEmpty();
      List<Read> all = assertSame(replicas, journal);
      for (TestProducer producer : producers) {
        assertThat(producer.others()).isEmpty();
        assertThat(producer.confirmed()).hasSize(3_000);
        producer.assertPositions(all);
      }
      assertThat(away.status().needsCopy()).isFalse();
      assertThat(away.status().copy()).isNull();

      // It votes as before, and has what was confirmed.
      replicas.kill(replicas.others(away).get(0));
      replicas.settle();
      publish(away, journal, 2);
      assertThat(assertSame(replicas, journal))
          .last()
          .extracting(Read::number)
          .isEqualTo(sequence - 1);
    }
  }

  @Test
  void aNewListenerIsAdmittedAfterTheLogWasCutAndCanVote() throws Exception {
    try (TestReplicas replicas = start(3, 0, FAST)) {
      int journal = create(replicas);
      publishUntilCut(replicas, journal);
      List<Node> voters = List.copyOf(replicas.nodes());
      Node added = replicas.add();
      replicas.start(added);
      assertThat(added.journals().knowsJournals()).isFalse();
      replicas.change(TestReplicas.members(voters, List.of(added)));
      List<Read> all = assertSame(replicas, journal);
      assertThat(all).last().extracting(Read::number).isEqualTo(sequence - 1);
      assertThat(added.journals().knowsJournals()).isTrue();

      replicas.kill(voters.get(0));
      List<Node> next = replicas.up();
      replicas.change(TestReplicas.members(next, List.of()));
      replicas.kill(voters.get(1));
      replicas.settle();
      publish(added, journal, 2);
      assertThat(assertSame(replicas, journal))
          .last()
          .extracting(Read::number)
          .isEqualTo(sequence - 1);
      replicas.stopAll();
      replicas.start(added);
      replicas.start(voters.get(2));
      assertThat(assertSame(replicas, journal))
          .last()
          .extracting(Read::number)
          .isEqualTo(sequence - 1);
    }
  }

  @Test
  @Tag("nightly")
  void aSourceThatEndsInTheMiddleIsReplacedByAnother() throws Exception {
    try (TestReplicas replicas = start(3, 1, SLOW)) {
      int journal = create(replicas);
      Node away = replicas.nodes().get(3);
      leaveBehind(replicas, away, journal);
      replicas.start(away);
      TestReplicas.until("a copy is under way", () -> isCopying(away));
      String source = Objects.requireNonNull(copy(away)).source();
      for (Node node : replicas.others(away)) {
        if (node.id().equals(source)) {
          replicas.kill(node);
        }
      }
      assertThat(replicas.up()).hasSize(3);
      TestReplicas.until("the replica has caught up", () -> isReady(away));
      publish(replicas.leader(), journal, 2);
      assertThat(assertSame(replicas, journal))
          .last()
          .extracting(Read::number)
          .isEqualTo(sequence - 1);
    }
  }

  @Test
  @Tag("nightly")
  void aReplicaThatEndsWhileItIsCopiedBeginsAnew() throws Exception {
    try (TestReplicas replicas = start(3, 0, SLOW)) {
      int journal = create(replicas);
      Node away = replicas.others(replicas.leader()).get(0);
      leaveBehind(replicas, away, journal);
      replicas.start(away);
      for (int i = 0; i < 2; i++) {
        TestReplicas.until("a copy is under way", () -> isCopying(away));
        if (i == 0) {
          replicas.kill(away);
        } else {
          replicas.stop(away);
        }
        publish(replicas.leader(), journal, 2);
        replicas.start(away);
        // Nothing but the files tells which journals there are.
        assertThat(away.journals().knowsJournals()).isFalse();
      }
      TestReplicas.until("the replica has caught up", () -> isReady(away));
      assertThat(assertSame(replicas, journal))
          .last()
          .extracting(Read::number)
          .isEqualTo(sequence - 1);
    }
  }

  @Test
  @Tag("nightly")
  void theLogsAreKeptFromTheBeginOfACopyOn() throws Exception {
    try (TestReplicas replicas = start(3, 0, SLOW)) {
      int journal = create(replicas);
      Node away = replicas.others(replicas.leader()).get(0);
      leaveBehind(replicas, away, journal);
      replicas.start(away);
      Copies copies = new Copies(away);
      TestReplicas.until("a copy is under way", () -> isCopying(away));
      // Three times what is kept for a replica that is away.
      publish(replicas.leader(), journal, (int) (3 * MAX_LOG / 200_000));
      TestReplicas.until("the replica has caught up", () -> isReady(away));
      assertThat(copies.end()).isEqualTo(1);
      assertThat(assertSame(replicas, journal))
          .last()
          .extracting(Read::number)
          .isEqualTo(sequence - 1);
    }
  }

  private static List<String> voters(Node node) {
    return node.status().members().stream()
        .filter(ShardStatus.Member::voter)
        .map(ShardStatus.Member::id)
        .sorted()
        .toList();
  }

  /** A replica that went by the former members could be elected by them, beside another leader. */
  @Test
  void aCopyBringsTheMembersOfItsSource() throws Exception {
    try (TestReplicas replicas = start(3, 1, FAST)) {
      int journal = create(replicas);
      Node leader = replicas.leader();
      Node listener = replicas.nodes().get(3);
      List<Node> others = new ArrayList<>(replicas.others(leader));
      others.remove(listener);
      Node away = others.get(0);
      leaveBehind(replicas, away, journal);
      List<Node> next = List.of(leader, listener, away);
      replicas.change(TestReplicas.members(next, List.of()));
      replicas.stop(others.get(1));
      replicas.start(away);
      TestReplicas.until("the replica has caught up", () -> isReady(away));
      assertThat(voters(away)).isEqualTo(next.stream().map(Node::id).sorted().toList());
      publish(away, journal, 2);
      assertThat(assertSame(replicas, journal))
          .last()
          .extracting(Read::number)
          .isEqualTo(sequence - 1);
    }
  }

  @Test
  void aReplicaThatWasTakenOutWhileItWasAwayHearsOfIt() throws Exception {
    try (TestReplicas replicas = start(2, 2, FAST)) {
      int journal = create(replicas);
      publish(replicas.leader(), journal, 2);
      replicas.settle();
      List<Node> voters = replicas.nodes().subList(0, 2);
      Node kept = replicas.nodes().get(2);
      Node away = replicas.nodes().get(3);
      replicas.stop(away);
      replicas.change(TestReplicas.members(voters, List.of(kept)));
      replicas.start(away);
      TestReplicas.until("it is told", () -> away.status().takenOut());
      assertThat(kept.status().takenOut()).isFalse();
      replicas.change(TestReplicas.members(voters, List.of(kept, away)));
      TestReplicas.until("it is back", () -> away.status().ready());
      assertThat(away.status().takenOut()).isFalse();
    }
  }
}
