package io.eventbus.registry.ratis;

import io.eventbus.link.LinkIdentity;
import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkOptions;
import io.eventbus.link.LinkSecurity;
import io.eventbus.raft.GateLimits;
import io.eventbus.registry.BusAddresses;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.TopicCommand;
import io.eventbus.registry.TopicSpec;
import io.eventbus.registry.membership.LeaseKeeper;
import io.eventbus.registry.ratis.admin.ClusterStatus;
import io.eventbus.registry.state.RegistryLimits;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Registries of several buses in one process, on loopback ports that the system chooses. */
public final class TestCluster implements AutoCloseable {
  static final Duration LONG = Duration.ofSeconds(30);

  /** Bus whose port stays the same over its restarts, as in life. */
  static final class Node {
    final String name;
    final Path directory;
    LinkNode links;
    RatisRegistry registry;
    Endpoint address;
    List<Endpoint> seeds = List.of();
    LinkSecurity security = LinkSecurity.none();
    String zone = "default";
    @Nullable LeaseKeeper keeper;
    boolean up;

    Node(String name, Path directory, LinkNode links, RatisRegistry registry, Endpoint address) {
      this.name = name;
      this.directory = directory;
      this.links = links;
      this.registry = registry;
      this.address = address;
    }

    void leave() {
      LeaseKeeper keeping = keeper;
      if (keeping != null) {
        keeping.close();
      }
    }
  }

  final Map<String, Node> nodes = new TreeMap<>();
  private final Path root;
  int snapshotEntries = 20_000;
  int voters = 3;

  /** Generation of the data directory of each bus; 0 for none. */
  int storage;

  Duration lease = Duration.ofSeconds(10);
  Duration replaceVoterAfter = Duration.ofMinutes(10);
  Duration electionTimeoutMin = Duration.ofMillis(500);
  GateLimits gate = GateLimits.DEFAULT;

  TestCluster(Path root) {
    this.root = root;
  }

  Node node(String name) {
    return Objects.requireNonNull(nodes.get(name));
  }

  /** Creates a bus, listening; its registry is not started. */
  Node prepare(String name, LinkSecurity security, Endpoint... seeds) throws IOException {
    return prepare(name, root.resolve(name), 0, security, List.of(seeds));
  }

  Node prepareAt(String name, int port, List<Endpoint> seeds) throws IOException {
    return prepare(name, root.resolve(name), port, LinkSecurity.none(), seeds);
  }

  private Node prepare(
      String name, Path directory, int port, LinkSecurity security, List<Endpoint> seeds)
      throws IOException {
    LinkNode links =
        new LinkNode(
            LinkOptions.DEFAULT.withTimes(
                Duration.ofSeconds(3), Duration.ofMillis(500), Duration.ofSeconds(2)),
            new LinkIdentity(name, ""),
            security);
    InetSocketAddress bound =
        links.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    Endpoint address = new Endpoint("127.0.0.1", bound.getPort());
    RatisRegistry registry = registry(name, directory, links, address, seeds);
    Node node = new Node(name, directory, links, registry, address);
    node.seeds = seeds;
    node.security = security;
    node.up = true;
    nodes.put(name, node);
    return node;
  }

  RatisRegistry registry(
      String name, Path directory, LinkNode links, Endpoint address, List<Endpoint> seeds) {
    RatisRegistryOptions options =
        new RatisRegistryOptions(
            directory,
            new BusId(name),
            address,
            seeds,
            voters,
            replaceVoterAfter,
            new RegistryLimits(64, 10_000, 4_096),
            gate,
            electionTimeoutMin,
            electionTimeoutMin.multipliedBy(2),
            snapshotEntries,
            16);
    return new RatisRegistry(options, links, Clock.systemUTC());
  }

  /** Starts that many buses, each joining the ones before; waits until all vote. */
  void start(int count) throws Exception {
    List<Endpoint> seeds = new ArrayList<>();
    nodes.values().forEach(node -> seeds.add(node.address));
    for (int i = nodes.size(); i < count; i++) {
      Node node =
          prepare("bus-" + (char) ('a' + i), LinkSecurity.none(), seeds.toArray(new Endpoint[0]));
      await(node.registry.start());
      register(node);
      seeds.add(node.address);
    }
    int voting = Math.min(count, voters);
    untilSettled(voting);
  }

  /** Waits until that many vote, on every bus that is up, and no change is under way. */
  void untilSettled(int voting) throws InterruptedException {
    until(
        "there are " + voting + " voters",
        () ->
            nodes.values().stream()
                .filter(n -> n.up)
                .map(n -> n.registry.status())
                .allMatch(s -> s.voters().size() == voting && !s.changing()));
  }

  /** Keeps the bus registered, and UP. */
  void register(Node node) throws Exception {
    LeaseKeeper keeper =
        new LeaseKeeper(node.registry, describe(node), lease, true, registered -> {});
    node.keeper = keeper;
    await(keeper.start());
    await(keeper.become(BusState.UP));
  }

  private BusDescription describe(Node node) {
    return new BusDescription(
        new BusId(node.name),
        new BusAddresses(List.of("ws://127.0.0.1:8080/bus"), node.address, null, node.address),
        node.zone,
        "1.0",
        BusDescription.STORAGE_PROTOCOL,
        storage);
  }

  /** Ends a bus as if its process had ended: no farewell to anybody, the links first. */
  void kill(Node node) {
    node.up = false;
    node.leave();
    node.links.close();
    node.registry.close();
  }

  /** Starts a bus again at the same address; its registry starts in the background. */
  CompletionStage<Void> restart(Node old) throws IOException {
    Node node = prepare(old.name, old.directory, old.address.port(), old.security, old.seeds);
    return node.registry.start();
  }

  Node leader() throws InterruptedException {
    until("there is a leader", () -> currentLeader() != null);
    return Objects.requireNonNull(currentLeader());
  }

  @Nullable Node currentLeader() {
    Node leader = null;
    long term = -1;
    for (Node node : nodes.values()) {
      ClusterStatus status = node.registry.status();
      if (node.up && status.role() == ClusterStatus.Role.LEADER && status.term() > term) {
        leader = node;
        term = status.term();
      }
    }
    return leader;
  }

  Node follower() throws InterruptedException {
    Node leader = leader();
    return nodes.values().stream().filter(n -> n.up && n != leader).findFirst().orElseThrow();
  }

  static CompletionStage<CommandResult> create(RatisRegistry registry, String topic) {
    return registry.submit(new TopicCommand.Create(new TopicSpec(topic, Map.of())), LONG);
  }

  static <T> T await(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  /** Waits for the effects of other threads; looks again every few milliseconds. */
  static void until(String what, BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new AssertionError("not within 60 s: " + what);
      }
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  /** Waits until every bus that is up shows the same registry. */
  void untilAllAgree(long version) throws InterruptedException {
    until(
        "all have version " + version,
        () ->
            nodes.values().stream()
                .filter(n -> n.up)
                .allMatch(n -> n.registry.snapshot().version() >= version));
  }

  @Override
  public void close() {
    nodes.values().parallelStream()
        .forEach(
            node -> {
              node.leave();
              node.registry.close();
              node.links.close();
            });
  }
}
