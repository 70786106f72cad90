package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.JournalCreated;
import io.eventbus.journal.store.FlushPolicy;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreIdentity;
import io.eventbus.journal.store.StoreOptions;
import io.eventbus.link.LinkIdentity;
import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkOptions;
import io.eventbus.link.LinkSecurity;
import io.eventbus.testing.TestPorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Replicas of a shard at several buses in one process, with links on loopback. */
final class TestReplicas implements AutoCloseable {
  private static final long DEADLINE_SECONDS = 120;

  /** Bus whose port and files stay over its restarts. */
  static final class Node {
    private final String bus;
    private final int port;
    private final boolean voter;
    private @Nullable LinkNode links;
    private @Nullable ShardJournals journals;
    private final ToldEvents events = new ToldEvents();

    Node(String bus, int port, boolean voter) {
      this.bus = bus;
      this.port = port;
      this.voter = voter;
    }

    String bus() {
      return bus;
    }

    String id() {
      return bus + "~1";
    }

    String address() {
      return "127.0.0.1:" + port;
    }

    ShardJournals journals() {
      return Objects.requireNonNull(journals, bus + " is up");
    }

    /** Returns what its replicas have told. */
    List<String> told() {
      return events.told();
    }

    ShardStatus status() {
      return Objects.requireNonNull(journals().status(), bus + " is open");
    }
  }

  private final Path root;
  private final UnaryOperator<ShardOptions> settings;
  private final List<Node> nodes = new ArrayList<>();

  TestReplicas(Path root, int voters, int listeners, UnaryOperator<ShardOptions> settings)
      throws IOException {
    this.root = root;
    this.settings = settings;
    for (int i = 0; i < voters + listeners; i++) {
      nodes.add(new Node("bus-" + (char) ('a' + i), TestPorts.find(), i < voters));
    }
  }

  /** Adds a bus that is not started yet, and is to follow the others. */
  Node add() throws IOException {
    Node node = new Node("bus-" + (char) ('a' + nodes.size()), TestPorts.find(), false);
    nodes.add(node);
    return node;
  }

  /** Returns the members of a shard in which some vote and others follow. */
  static List<ShardMember> members(List<Node> voters, List<Node> listeners) {
    List<ShardMember> members = new ArrayList<>();
    voters.forEach(node -> members.add(new ShardMember(node.id(), node.address(), true)));
    listeners.forEach(node -> members.add(new ShardMember(node.id(), node.address(), false)));
    return members;
  }

  /** Changes the members, at whichever bus leads. */
  void change(List<ShardMember> members) throws InterruptedException {
    until(
        "the members are changed",
        () -> succeeds(currentLeader(), node -> node.journals().changeMembers(members)));
  }

  /** Starts replicas whose callers wait long for their answers. */
  static TestReplicas start(Path root, int voters, int listeners) throws IOException {
    TestReplicas replicas =
        new TestReplicas(
            root,
            voters,
            listeners,
            options -> {
              ShardOptions.Tuning tuning = options.tuning();
              return tuned(
                  options,
                  Duration.ofSeconds(90),
                  tuning.electionTimeoutMin(),
                  tuning.store().flush(),
                  tuning.maxLogBytes());
            });
    replicas.startAll();
    return replicas;
  }

  static ShardOptions tuned(
      ShardOptions options,
      Duration answerTimeout,
      Duration electionTimeoutMin,
      FlushPolicy flush,
      long maxLogBytes) {
    return tuned(
        options,
        answerTimeout,
        electionTimeoutMin,
        flush,
        maxLogBytes,
        options.tuning().copyBytesPerSecond());
  }

  static ShardOptions tuned(
      ShardOptions options,
      Duration answerTimeout,
      Duration electionTimeoutMin,
      FlushPolicy flush,
      long maxLogBytes,
      long copyBytesPerSecond) {
    ShardOptions.Tuning tuning = options.tuning();
    StoreOptions store = tuning.store();
    return new ShardOptions(
        options.directory(),
        options.cluster(),
        options.shard(),
        options.member(),
        options.replicas(),
        options.resources(),
        new ShardOptions.Tuning(
            new StoreOptions(
                store.writeBufferBytes(),
                store.maxWriteBuffers(),
                store.blobFiles(),
                store.writeTimeout(),
                flush),
            tuning.limits(),
            tuning.maxPendingBytes(),
            answerTimeout,
            tuning.openTimeout(),
            tuning.dutyInterval(),
            tuning.wallMillis(),
            electionTimeoutMin,
            electionTimeoutMin.multipliedBy(2),
            maxLogBytes,
            copyBytesPerSecond));
  }

  void startAll() throws IOException {
    for (Node node : nodes) {
      start(node);
    }
  }

  void start(Node node) throws IOException {
    LinkNode links =
        new LinkNode(
            LinkOptions.DEFAULT.withTimes(
                Duration.ofSeconds(3), Duration.ofMillis(500), Duration.ofSeconds(2)),
            new LinkIdentity(node.bus, ""),
            LinkSecurity.none());
    node.links = links;
    InetSocketAddress unused =
        links.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), node.port));
    List<ShardMember> members =
        nodes.stream().map(each -> new ShardMember(each.id(), each.address(), each.voter)).toList();
    ShardOptions alone = TestShards.options(root.resolve(node.bus));
    node.journals =
        ShardJournals.open(
            settings.apply(
                new ShardOptions(
                    alone.directory(),
                    alone.cluster(),
                    alone.shard(),
                    node.id(),
                    new ShardReplicas(links, members),
                    alone.resources(),
                    alone.tuning())),
            opened -> opened.listen(node.events));
  }

  /** Opens the store of a bus that is stopped. */
  ShardStore openStore(Node node) throws IOException {
    ShardOptions options = TestShards.options(root.resolve(node.bus));
    return ShardStore.open(
        options.directory().resolve("shards/1/store"),
        new StoreIdentity(options.group(), node.id()),
        options.tuning().store(),
        options.resources(),
        failure -> {});
  }

  List<Node> nodes() {
    return nodes;
  }

  List<Node> up() {
    return nodes.stream().filter(node -> node.journals != null).toList();
  }

  List<Node> others(Node node) {
    return up().stream().filter(each -> each != node).toList();
  }

  /** Ends a bus in order: its shard first. */
  void stop(Node node) {
    stopShard(node);
    stopLinks(node);
  }

  void stopShard(Node node) {
    ShardJournals journals = node.journals();
    node.journals = null;
    journals.close();
  }

  void stopLinks(Node node) {
    Objects.requireNonNull(node.links).close();
  }

  /** Ends a bus as if its process had ended: no farewell to anybody, the links first. */
  void kill(Node node) {
    ShardJournals journals = node.journals();
    node.journals = null;
    Objects.requireNonNull(node.links).close();
    journals.close();
  }

  /** Waits until a bus that is up leads. */
  Node leader() throws InterruptedException {
    until("there is a leader", () -> currentLeader() != null);
    return Objects.requireNonNull(currentLeader());
  }

  private @Nullable Node currentLeader() {
    Node leader = null;
    long term = -1;
    for (Node node : up()) {
      ShardStatus status = node.journals().status();
      if (status != null && node.id().equals(status.leader()) && status.term() > term) {
        leader = node;
        term = status.term();
      }
    }
    return leader;
  }

  /** Creates a journal, which all buses know then. */
  int create(JournalDefinition definition) throws InterruptedException {
    AtomicInteger journal = new AtomicInteger();
    until(
        "the journal is created",
        () ->
            succeeds(
                currentLeader(),
                node -> {
                  CompletionStage<RecordResult> created = node.journals().create(definition);
                  return created.thenAccept(
                      result -> journal.set(((JournalCreated) result).journal()));
                }));
    settle();
    return journal.get();
  }

  private static boolean succeeds(
      @Nullable Node node, Function<Node, CompletionStage<Void>> attempt) {
    if (node == null) {
      return false;
    }
    try {
      attempt.apply(node).toCompletableFuture().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
      return true;
    } catch (ExecutionException e) {
      // Not in time: the machine is busy, or there is no leader now.
      assertThat(e.getCause()).isInstanceOf(JournalsUnavailableException.class);
      return false;
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError(e);
    }
  }

  /** Waits until all buses that are up have applied what is committed. */
  void settle() throws InterruptedException {
    for (Node node : up()) {
      until(node.bus + " is ready", () -> node.status().ready());
      until(
          node.bus + " is up to date",
          () -> succeeds(node, each -> each.journals().appliedUpToNow()));
    }
  }

  static void until(String what, BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new AssertionError("not within " + DEADLINE_SECONDS + " s: " + what);
      }
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  @Override
  public void close() {
    stopAll();
  }

  void stopAll() {
    up().parallelStream().forEach(this::stop);
  }
}
