package io.eventbus.server.cluster;

import io.eventbus.link.LinkIdentity;
import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkOptions;
import io.eventbus.link.LinkTransport;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.Departure;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.Registry;
import io.eventbus.registry.RegistryLifecycle;
import io.eventbus.registry.membership.LeaseKeeper;
import io.eventbus.registry.ratis.RatisRegistry;
import io.eventbus.registry.ratis.RatisRegistryOptions;
import io.eventbus.registry.ratis.admin.ClusterStatus;
import io.eventbus.server.config.BuildInfo;
import io.eventbus.server.config.ClusterConfig;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.tls.TlsSource;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Membership of a bus in a cluster. Its links listen and its registry starts before all else; the
 * wait for the other buses goes on beside the rest of the start, and after it.
 */
final class ClusterMembership implements Membership {
  /**
   * Version of the protocol between buses: 2 has revocations in the registry, 3 has data
   * directories and shards.
   */
  static final int PROTOCOL_VERSION = BusDescription.STORAGE_PROTOCOL;

  private static final Logger LOG = LoggerFactory.getLogger(ClusterMembership.class);

  private final ServerConfig config;
  private final ClusterSecurity security;
  private final BusDirectory directory;
  private final int port;
  private final Endpoint address;
  private final LinkNode links;
  private final @Nullable Discovery discovery;
  private final RatisRegistry registry;
  private final OtherBuses others;
  private final CompletableFuture<Void> started;
  private final CompletableFuture<String> refused = new CompletableFuture<>();
  private final JoinProgressLog waiting;
  private volatile @Nullable LeaseKeeper keeper;
  private volatile boolean registered;
  private volatile boolean ending;
  private @Nullable GracefulLeave leaving;

  private ClusterMembership(
      ServerConfig config,
      ClusterSecurity security,
      BusDirectory directory,
      int port,
      Endpoint address,
      LinkNode links,
      @Nullable Discovery discovery,
      RatisRegistry registry) {
    this.config = config;
    this.security = security;
    this.directory = directory;
    this.port = port;
    this.address = address;
    this.links = links;
    this.discovery = discovery;
    this.registry = registry;
    this.others = new OtherBuses(new BusId(directory.bus()));
    registry.addListener(others);
    registry.addListener(new BusStateLog(new BusId(directory.bus()), () -> registered));
    this.started = registry.start().toCompletableFuture();
    this.waiting = new JoinProgressLog(this::situation);
    var unused = started.whenComplete((nothing, error) -> onStarted(error));
  }

  static ClusterMembership open(
      ServerConfig config, Clock clock, LinkTransport transport, Set<String> streams)
      throws IOException {
    ClusterConfig cluster = config.cluster();
    ClusterSecurity security = ClusterSecurity.of(cluster.security());
    BusDirectory directory = BusDirectory.open(config);
    LinkNode links =
        new LinkNode(
            LinkOptions.DEFAULT,
            new LinkIdentity(cluster.id(), directory.bus(), ""),
            security.links(),
            transport);
    links.reserveStreams(streams);
    try {
      InetSocketAddress bound =
          links.listen(
              new InetSocketAddress(InetAddress.getByName(cluster.bindHost()), cluster.port()));
      Endpoint address = AdvertisedAddress.find(cluster, bound.getPort());
      LOG.info(
          "Bus {} of the cluster {} takes links at {} as {}, directory {}",
          directory.bus(),
          cluster.id(),
          bound,
          address,
          directory.path());
      Discovery discovery =
          cluster.discovery().enabled()
              ? discover(cluster, directory, address, links, security)
              : null;
      RatisRegistry registry =
          new RatisRegistry(
              options(cluster, directory, address), new SeedList(cluster, discovery), links, clock);
      return new ClusterMembership(
          config, security, directory, bound.getPort(), address, links, discovery, registry);
    } catch (IOException | RuntimeException e) {
      links.close();
      throw e;
    }
  }

  private static Discovery discover(
      ClusterConfig cluster,
      BusDirectory directory,
      Endpoint address,
      LinkNode links,
      ClusterSecurity security)
      throws IOException {
    LinkIdentity identity = links.identity();
    Announcement.Self self =
        new Announcement.Self(
            cluster.id(), new BusId(directory.bus()), address, identity.instance());
    return Discovery.start(cluster.discovery(), self, identity::cluster, security.secret());
  }

  private static RatisRegistryOptions options(
      ClusterConfig cluster, BusDirectory directory, Endpoint address) {
    RatisRegistryOptions defaults =
        RatisRegistryOptions.of(
            directory.registry(), new BusId(directory.bus()), address, List.of());
    return new RatisRegistryOptions(
        defaults.directory(),
        defaults.bus(),
        address,
        List.of(),
        cluster.voters(),
        cluster.replaceVoterAfter(),
        defaults.limits(),
        defaults.gate(),
        defaults.electionTimeoutMin(),
        defaults.electionTimeoutMax(),
        defaults.snapshotEntries(),
        defaults.maxListeners());
  }

  @Override
  public boolean awaitRegistry(Duration limit) throws IOException {
    try {
      started.get(limit.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while joining the cluster", e);
    } catch (ExecutionException e) {
      throw new IOException(refusal(e.getCause()), e.getCause());
    } catch (TimeoutException e) {
      waiting.start();
      return false;
    }
  }

  private static String refusal(@Nullable Throwable cause) {
    return "no member of the cluster: " + (cause == null ? "unknown" : cause.getMessage());
  }

  private void onStarted(@Nullable Throwable error) {
    waiting.close();
    if (error != null && !ending) {
      refused.complete(refusal(error.getCause() == null ? error : error.getCause()));
    }
  }

  @Override
  public String busName() {
    return directory.bus();
  }

  @Override
  public int linkPort() {
    return port;
  }

  @Override
  public String linkAddress() {
    return address.toString();
  }

  @Override
  public Optional<LinkNode> links() {
    return Optional.of(links);
  }

  @Override
  public Optional<TlsSource> linkTls() {
    return security.tls();
  }

  @Override
  public Optional<byte[]> sharedKey(String purpose) {
    return security.derive(purpose);
  }

  @Override
  public void serve(InetSocketAddress clients, int adminPort, int storage) throws IOException {
    BusDescription description =
        new BusDescription(
            new BusId(directory.bus()),
            new SeedAddresses(config, address.host()).describe(clients, adminPort, address),
            config.cluster().zone(),
            BuildInfo.version(),
            PROTOCOL_VERSION,
            storage);
    LeaseKeeper made =
        new LeaseKeeper(
            registry, description, config.cluster().lease(), true, life -> registered = true);
    keeper = made;
    // Only when the registry runs: each refusal would cost a pause.
    var unused =
        started
            .thenCompose(nothing -> made.become(BusState.UP))
            .thenRun(
                () ->
                    LOG.info(
                        "Bus {} is UP in the cluster {} as {}; other buses: {}",
                        directory.bus(),
                        config.cluster().id(),
                        registry.status().role(),
                        describeOthers()));
  }

  private String describeOthers() {
    String all =
        registry.snapshot().buses().stream()
            .filter(bus -> !bus.id().value().equals(directory.bus()))
            .map(bus -> bus.id() + " " + bus.state())
            .collect(Collectors.joining(", "));
    return all.isEmpty() ? "none yet" : all;
  }

  /** Returns what this bus waits for, or which one leads. */
  private String situation() {
    String known = registry.situation();
    return registered
        ? known
        : JoinProgressLog.describe(started.isDone(), registry.status().leader() != null, known);
  }

  @Override
  public List<String> others() {
    return others.addresses();
  }

  @Override
  public CompletionStage<String> refused() {
    return refused.minimalCompletionStage();
  }

  @Override
  public Registry registry() {
    return registry;
  }

  @Override
  public Optional<RatisRegistry> consensus() {
    return Optional.of(registry);
  }

  @Override
  public MembershipStatus standing() {
    ClusterStatus status = registry.status();
    BusInfo self = registry.snapshot().bus(new BusId(directory.bus()));
    RegistryLifecycle lifecycle = registry.lifecycle();
    boolean failed = lifecycle == RegistryLifecycle.FAILED;
    boolean whole = status.leader() != null && registered;
    MembershipStatus.Phase phase =
        registered ? MembershipStatus.Phase.MEMBER : MembershipStatus.Phase.JOINING;
    return new MembershipStatus(
        failed ? MembershipStatus.Phase.FAILED : phase,
        config.cluster().id(),
        status.cluster(),
        status.role().name(),
        self == null || !registered ? "NONE" : self.state().name(),
        status.leader(),
        status.term(),
        registry.localRead().age().toMillis(),
        failed
            ? "the registry has stopped on an error of its own, which the log tells"
            : whole ? "" : situation());
  }

  @Override
  public Duration leaseAge() {
    LeaseKeeper keeping = keeper;
    return keeping == null ? Duration.ZERO : keeping.age();
  }

  @Override
  public CompletionStage<Void> announce(BusState state) {
    LeaseKeeper keeping = keeper;
    return keeping == null || ending
        ? CompletableFuture.completedFuture(null)
        : keeping.become(state);
  }

  @Override
  public void drain(Departure departure) {
    ending = true;
    LeaseKeeper keeping = keeper;
    if (registered && keeping != null) {
      leaving = new GracefulLeave(registry, keeping, departure, config.cluster().leave());
      leaving.begin();
    }
  }

  @Override
  public void close() {
    ending = true;
    waiting.close();
    GracefulLeave goodbye = leaving;
    if (goodbye != null) {
      goodbye.finish();
    }
    LeaseKeeper keeping = keeper;
    if (keeping != null) {
      keeping.close();
    }
    if (discovery != null) {
      discovery.close();
    }
    registry.close();
    links.close();
  }
}
