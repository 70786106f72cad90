package io.eventbus.loadtest.coordination.eventbus;

import io.eventbus.link.LinkIdentity;
import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkOptions;
import io.eventbus.link.LinkSecurity;
import io.eventbus.link.LinkTransport;
import io.eventbus.loadtest.coordination.Register;
import io.eventbus.raft.GateLimits;
import io.eventbus.registry.BusAddresses;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusState;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.TopicConfig;
import io.eventbus.registry.membership.LeaseKeeper;
import io.eventbus.registry.ratis.RatisRegistry;
import io.eventbus.registry.ratis.RatisRegistryOptions;
import io.eventbus.registry.ratis.admin.ClusterStatus;
import io.eventbus.registry.state.RegistryLimits;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The process of one server: links, a registry with its defaults, and a lease, as in a bus.
 *
 * <p>For tuning, the system properties {@code loadtest.registry.entries} and {@code
 * loadtest.registry.snapshot-entries} replace two of the defaults.
 *
 * <p>Arguments: name, directory, port (0 for any), how many are to vote, and the ports of servers
 * that are there already.
 */
final class RegistryServer {
  /** Said once the links listen. */
  static final String LISTENING = "links on port ";

  /** Said once the server takes part; with the milliseconds since its start. */
  static final String READY = "registry joined after ";

  /** A change to a topic of this name is timed. */
  static final String TIMED = "timed";

  private static final int MAX_TIMED = 100_000;

  private final RatisRegistry registry;
  private final List<Long> seen = new ArrayList<>();
  private final Repetitions repetitions = new Repetitions();

  private RegistryServer(RatisRegistry registry) {
    this.registry = registry;
  }

  public static void main(String[] args) throws Exception {
    // As the command "eventbus serve" has it.
    System.setProperty("io.netty.leakDetection.level", "disabled");
    String name = args[0];
    LinkNode links = links(name);
    int port =
        links
            .listen(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[2])))
            .getPort();
    System.out.println(LISTENING + port);
    long start = System.nanoTime();
    Endpoint address = new Endpoint("127.0.0.1", port);
    List<Endpoint> seeds = new ArrayList<>();
    for (int i = 4; i < args.length; i++) {
      seeds.add(new Endpoint("127.0.0.1", Integer.parseInt(args[i])));
    }
    RatisRegistry registry =
        new RatisRegistry(
            options(Path.of(args[1]), name, address, seeds, Integer.parseInt(args[3])),
            links,
            Clock.systemUTC());
    RegistryServer server = new RegistryServer(registry);
    registry.addListener(server::onSnapshot);
    server.offer(links);
    registry.start().toCompletableFuture().get(60, TimeUnit.SECONDS);
    try (LeaseKeeper keeper =
        new LeaseKeeper(
            registry, describe(name, address), Duration.ofSeconds(10), true, registered -> {})) {
      keeper.start().toCompletableFuture().get(60, TimeUnit.SECONDS);
      keeper.become(BusState.UP).toCompletableFuture().get(60, TimeUnit.SECONDS);
      System.out.printf(
          Locale.ROOT, "%s%.1f ms%n", READY, (System.nanoTime() - start) / 1_000_000.0);
      new CountDownLatch(1).await();
    }
  }

  /** Links as a bus has them. */
  static LinkNode links(String name) {
    return new LinkNode(
        LinkOptions.DEFAULT,
        new LinkIdentity(name, ""),
        LinkSecurity.none(),
        Epoll.isAvailable()
            ? new LinkTransport(
                EpollIoHandler.newFactory(),
                EpollServerSocketChannel.class,
                EpollSocketChannel.class)
            : LinkTransport.nio());
  }

  private static RatisRegistryOptions options(
      Path directory, String name, Endpoint address, List<Endpoint> seeds, int voters) {
    RatisRegistryOptions defaults =
        RatisRegistryOptions.of(directory, new BusId(name), address, seeds);
    return new RatisRegistryOptions(
        directory,
        new BusId(name),
        address,
        seeds,
        voters,
        defaults.replaceVoterAfter(),
        RegistryLimits.DEFAULT,
        gate(),
        defaults.electionTimeoutMin(),
        defaults.electionTimeoutMax(),
        Integer.getInteger("loadtest.registry.snapshot-entries", defaults.snapshotEntries()),
        defaults.maxListeners());
  }

  private static GateLimits gate() {
    GateLimits defaults = GateLimits.DEFAULT;
    return new GateLimits(
        Integer.getInteger("loadtest.registry.entries", defaults.maxEntriesUnderWay()),
        defaults.maxBatchCommands(),
        defaults.maxBatchBytes(),
        defaults.maxQueuedCommands(),
        defaults.maxQueuedBytes());
  }

  private static BusDescription describe(String name, Endpoint address) {
    return new BusDescription(
        new BusId(name),
        new BusAddresses(List.of("ws://127.0.0.1:1/bus"), address, null, address),
        "default",
        "1.0",
        1,
        0);
  }

  private void offer(LinkNode links) {
    links.offer(
        RegistryControl.STATUS,
        (peer, request) -> CompletableFuture.completedFuture(status().encode()));
    links.offer(
        RegistryControl.READ,
        (peer, request) ->
            CompletableFuture.completedFuture(
                read(registry.snapshot(), RegistryControl.argument(request))));
    links.offer(
        RegistryControl.READ_NEWEST,
        (peer, request) ->
            registry
                .linearizableRead(Duration.ofSeconds(2))
                .thenApply(snapshot -> read(snapshot, RegistryControl.argument(request))));
    links.offer(
        RegistryControl.REPEATED,
        (peer, request) ->
            CompletableFuture.completedFuture(
                RegistryControl.encode(repetitions.of(RegistryControl.argument(request)))));
    links.offer(
        RegistryControl.SEEN,
        (peer, request) -> CompletableFuture.completedFuture(RegistryControl.encode(seen())));
  }

  private RegistryControl.Status status() {
    ClusterStatus status = registry.status();
    return new RegistryControl.Status(
        status.role() == ClusterStatus.Role.LEADER,
        status.voters().size(),
        status.voters().size() + status.listeners().size(),
        status.changing(),
        status.term(),
        status.appliedIndex());
  }

  private static byte[] read(RegistrySnapshot snapshot, String name) {
    @Nullable TopicConfig topic = snapshot.topic(name);
    return RegistryControl.encode(
        topic == null
            ? Register.absent(name)
            : new Register(name, value(topic), topic.revision(), 0));
  }

  private static String value(TopicConfig topic) {
    return topic.settings().getOrDefault(RegistryControl.SETTING, "");
  }

  private void onSnapshot(RegistrySnapshot snapshot, List<RegistryChange> changes) {
    long now = System.nanoTime();
    for (RegistryChange change : changes) {
      if (change instanceof RegistryChange.TopicChanged changed) {
        String name = changed.topic().name();
        repetitions.changed(name, value(changed.previous()), value(changed.topic()));
        if (name.equals(TIMED)) {
          note(now);
        }
      }
    }
  }

  private void note(long now) {
    synchronized (seen) {
      if (seen.size() < MAX_TIMED) {
        seen.add(now);
      }
    }
  }

  private long[] seen() {
    synchronized (seen) {
      return seen.stream().mapToLong(Long::longValue).toArray();
    }
  }
}
