package io.eventbus.server;

import io.eventbus.link.LinkNode;
import io.eventbus.registry.BusId;
import io.eventbus.registry.Departure;
import io.eventbus.registry.ListenerRegistration;
import io.eventbus.server.admin.AdminServer;
import io.eventbus.server.admin.ServiceQueryResponder;
import io.eventbus.server.admission.ConnectionLimit;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.balance.Balancer;
import io.eventbus.server.call.BusCalls;
import io.eventbus.server.call.CallSettings;
import io.eventbus.server.call.ServedHere;
import io.eventbus.server.call.tunnel.TunnelSettings;
import io.eventbus.server.cluster.BusLives;
import io.eventbus.server.cluster.Membership;
import io.eventbus.server.cluster.MembershipStatus;
import io.eventbus.server.cluster.StaleSessionCloser;
import io.eventbus.server.config.BuildInfo;
import io.eventbus.server.config.BusConfig;
import io.eventbus.server.config.ConfigException;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.config.ServicesConfig;
import io.eventbus.server.delivery.LoopBarrier;
import io.eventbus.server.durable.ConfiguredJournals;
import io.eventbus.server.durable.CursorOwner;
import io.eventbus.server.durable.DurableFigures;
import io.eventbus.server.durable.DurableTopics;
import io.eventbus.server.durable.JournalAdministration;
import io.eventbus.server.durable.JournalQuotas;
import io.eventbus.server.durable.JournalStore;
import io.eventbus.server.federation.Federation;
import io.eventbus.server.federation.FederationFigures;
import io.eventbus.server.internal.InternalClient;
import io.eventbus.server.measure.LoopLoad;
import io.eventbus.server.measure.LoopWatch;
import io.eventbus.server.measure.MeasuredLoad;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.quota.QuotaAccounts;
import io.eventbus.server.replica.PlacementGuard;
import io.eventbus.server.replica.ReplicaAdvisories;
import io.eventbus.server.replica.ReplicaPlace;
import io.eventbus.server.replica.ReplicaStore;
import io.eventbus.server.routing.JournalRoutes;
import io.eventbus.server.routing.RemoteForwarder;
import io.eventbus.server.routing.Router;
import io.eventbus.server.secret.ResumeKeys;
import io.eventbus.server.secret.SecretFiles;
import io.eventbus.server.security.Authentications;
import io.eventbus.server.security.Revocations;
import io.eventbus.server.session.BusContext;
import io.eventbus.server.session.ClusterGuarantees;
import io.eventbus.server.session.LoopContext;
import io.eventbus.server.session.ResumeKey;
import io.eventbus.server.session.Sessions;
import io.eventbus.server.stats.BusCounters;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.eventbus.server.sys.AuditTrail;
import io.eventbus.server.sys.Observers;
import io.eventbus.server.sys.SysTopics;
import io.eventbus.server.tls.CertificateWatch;
import io.eventbus.server.tls.TlsSource;
import io.eventbus.server.transport.EventLoops;
import io.eventbus.server.transport.TransportServer;
import io.eventbus.server.view.BusHealth;
import io.eventbus.server.view.BusSummary;
import io.eventbus.server.view.BusView;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Running bus. {@link #start} returns when it listens; {@link #close} when it has ended in order.
 * Any thread.
 *
 * <p>It is one class so that the order of the start, and its reverse at the end, is read in one
 * place.
 */
public final class BusServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(BusServer.class);

  /** Maximum of bytes around a message between buses. */
  private static final int FRAME_MARGIN = 1 << 20;

  /** Maximum time of a call, whatever its caller says. */
  private static final Duration MAX_CALL = Duration.ofMinutes(10);

  /**
   * Time that the start waits for the registry before it goes on all the same. Errors of the
   * directory or the cluster show in this time.
   */
  private static final Duration REGISTRY_TIMEOUT = Duration.ofSeconds(2);

  /**
   * Time that the start waits for the journals of a cluster before it goes on by those that it
   * knows. A bus that knows none waits on.
   */
  private static final Duration JOURNALS_TIMEOUT = Duration.ofSeconds(10);

  private static final Duration NO_WAIT = Duration.ofMillis(1);

  /** Divisor of the heap for the topics of the bus's own events. */
  private static final int OWN_TOPICS_PART = 64;

  private final ServerConfig config;
  private final EventLoops loops;
  private final TransportServer transport;
  private final LoopWatch watch;
  private final LoopLoad load;
  private final BusLife life = new BusLife();
  private final JournalRoutes journalRoutes = new JournalRoutes();
  private final @Nullable JournalStore store;
  private final @Nullable DurableTopics durable;
  private final ClientAuthentication authentication;
  private final Membership membership;
  private final BusContext bus;
  private final BusCalls calls;
  private final Balancer balancer;
  private final @Nullable StaleSessionCloser replacement;
  private final @Nullable Federation federation;
  private final @Nullable AdminServer admin;
  private final Advisories advisories;
  private final AuditTrail audit;
  private final Observers observers;
  private final CertificateWatch certificates;
  private @Nullable ListenerRegistration revocations;
  private @Nullable ListenerRegistration guard;
  private @Nullable SysTopics sysTopics;
  private @Nullable ServiceQueryResponder questions;

  private BusServer(
      ServerConfig config,
      @Nullable AdminServer admin,
      @Nullable JournalStore store,
      Membership membership,
      ResumeKey resumes,
      ClientAuthentication authentication,
      Revocations revocations,
      Advisories advisories,
      Clock clock) {
    this.config = config;
    this.authentication = authentication;
    this.admin = admin;
    this.store = store;
    this.membership = membership;
    this.advisories = advisories;
    loops = new EventLoops(config.listen());
    BusCounters counters = new BusCounters(loops.count());
    SubscriptionIndex index = new SubscriptionIndex(loops.count());
    BusMemory memory = new BusMemory(memoryLimit(config));
    QuotaAccounts quotas = new QuotaAccounts(advisories, System::nanoTime);
    durable =
        store == null
            ? null
            : new DurableTopics(
                store.journals(),
                store.cluster(),
                journalRoutes,
                new JournalQuotas(authentication.quotas()::ofAccount, quotas),
                cursorOwner(config, membership),
                advisories::tell,
                loops,
                memory,
                config.federation().syncTimeout());
    federation =
        membership.links().isEmpty()
            ? null
            : new Federation(
                config.federation(),
                new BusId(config.bus().name()),
                // Others may take larger messages than this one.
                (int)
                    Math.min(Integer.MAX_VALUE, 2L * config.limits().messageBytes() + FRAME_MARGIN),
                loops,
                index,
                memory);
    bus =
        new BusContext(
            config.bus().name(),
            config.limits(),
            index,
            memory,
            new Sessions(config.bus().name(), clock, membership::others, resumes),
            new Authentications(authentication.authenticator()),
            new LoopBarrier(loops),
            counters,
            clock,
            federation == null ? ClusterGuarantees.ALONE : federation,
            advisories,
            quotas,
            revocations,
            config.services(),
            store == null ? null : store.journals(),
            durable == null ? null : durable.consumers(),
            durable);
    calls =
        new BusCalls(
            loops,
            callSettings(config.services(), memory.limit()),
            memory,
            federation == null ? ServedHere.NOBODY : federation.servedHere());
    transport =
        new TransportServer(
            config,
            loops,
            bus,
            (loop, allocator, flushDue) ->
                new Router(
                    loop,
                    loops,
                    index,
                    allocator,
                    memory,
                    counters.loops().get(loop),
                    forwarder(loop),
                    journalRoutes,
                    flushDue),
            calls,
            this::failLoop);
    replacement = membership.links().map(this::replacement).orElse(null);
    if (replacement != null) {
      bus.sessions().setStaleSessions(replacement::end);
    }
    watch = new LoopWatch(loops, life::fail);
    load = new LoopLoad(loops, watch);
    balancer =
        new Balancer(
            new Balancer.Place(
                config.bus().name(),
                config.cluster().zone(),
                membership.registry(),
                membership.links().orElse(null),
                membership::announce,
                advisories),
            config.balance(),
            bus.sessions(),
            new MeasuredLoad(bus, load, config, transport.connectionLimit().connections()),
            clock);
    List<TlsSource> sources = new ArrayList<>();
    transport.tls().ifPresent(sources::add);
    membership.linkTls().ifPresent(sources::add);
    if (admin != null) {
      admin.tls().ifPresent(sources::add);
    }
    certificates = new CertificateWatch(sources, advisories, clock);
    observers = new Observers(index.accounts(), config.admin().access().account());
    audit =
        new AuditTrail(
            config.bus().name(),
            config.audit().file() != null,
            observers::isWanted,
            clock,
            counters.auditDropped);
    advisories.audit(audit);
    audit.start();
  }

  private StaleSessionCloser replacement(LinkNode links) {
    BusCounters counters = bus.stats();
    return StaleSessionCloser.of(
        links,
        membership.registry(),
        (session, member) -> {
          calls.presence().movedAway(member);
          return bus.sessions().replace(session, member);
        },
        (ended, gone, unknown) -> {
          counters.staleSessionsEnded.add(ended);
          counters.staleSessionsGone.add(gone);
          counters.staleSessionsUnknown.add(unknown);
        });
  }

  private static CursorOwner cursorOwner(ServerConfig config, Membership membership) {
    if (membership.links().isEmpty()) {
      return CursorOwner.alone(config.bus().name());
    }
    BusLives lives =
        new BusLives(new BusId(config.bus().name()), () -> membership.registry().snapshot());
    return new CursorOwner(lives::own, lives::hasEnded);
  }

  private RemoteForwarder forwarder(int loop) {
    return federation == null ? RemoteForwarder.NONE : federation.forwarder(loop);
  }

  private FederationFigures figures() {
    return federation == null ? FederationFigures.NONE : federation.figures();
  }

  private static CallSettings callSettings(ServicesConfig services, long memoryLimit) {
    return new CallSettings(
        services.calls(),
        services.timeout().toNanos(),
        MAX_CALL.toNanos(),
        services.maxWait().toNanos(),
        services.retries(),
        services.retryPercent(),
        services.queueRequests(),
        services.queueBytes() == 0 ? memoryLimit / 4 : services.queueBytes(),
        services.maxGatherMembers(),
        TunnelSettings.of(services.tunnels(), services.tunnelBufferBytes()));
  }

  private static long memoryLimit(ServerConfig config) {
    long configured = config.limits().memoryBytes();
    if (configured != 0) {
      return configured;
    }
    // Waiting data is in direct memory, with a part on the heap, and both have other uses.
    return Math.min(PlatformDependent.maxDirectMemory() / 2, Runtime.getRuntime().maxMemory() / 4);
  }

  /**
   * Starts a bus.
   *
   * @param config the configuration
   * @return a bus that accepts clients
   * @throws IOException if an address cannot be bound, the files of durable topics cannot be used,
   *     the bus must not be in the cluster that the configuration names, or it has failed before it
   *     was up; the message names it and the reason
   * @throws ConfigException if a file that the configuration names cannot be used, or a journal of
   *     it is illegal
   */
  public static BusServer start(ServerConfig config) throws IOException {
    return start(config, (membership, advisories) -> store(config, membership, advisories::tell));
  }

  private static @Nullable JournalStore store(
      ServerConfig config, Membership membership, Consumer<Advisory> advisories)
      throws IOException {
    Path data = config.durable().directory();
    if (data == null) {
      return null;
    }
    return membership.links().isEmpty()
        ? DurableStore.open(
            data, new ReplicaAdvisories(membership.busName(), DurableStore.SHARD, advisories))
        : ReplicaStore.open(
            data,
            new ReplicaPlace(
                membership.busName(),
                membership.registry(),
                () -> membership.standing().clusterId(),
                membership.links().get(),
                membership.linkAddress(),
                config.durable().replaceAfter()),
            advisories);
  }

  /** Opener of the journals of a bus. */
  interface StoreOpener {
    /**
     * Opens the journals; null for a bus without any.
     *
     * @param membership place of the bus in its registry, which outlives the journals
     * @param advisories take what operators want to know at once
     * @throws IOException if they cannot be opened; names problem, place and expectation
     */
    @Nullable JournalStore open(Membership membership, Advisories advisories) throws IOException;
  }

  /** Starts a bus with other journals. */
  static BusServer start(ServerConfig config, StoreOpener opener) throws IOException {
    TransportServer.check(config);
    ConfiguredJournals journals = ConfiguredJournals.read(config.durable().journals());
    SecretFiles.notes(config).forEach(LOG::warn);
    Advisories advisories = new Advisories();
    AdminServer admin = administration(config, advisories);
    BusServer server;
    try {
      server = prepare(config, admin, opener, advisories, Clock.systemUTC());
    } catch (IOException | RuntimeException e) {
      if (admin != null) {
        admin.close();
      }
      throw e;
    }
    try {
      server.open(journals);
      return server;
    } catch (IOException | RuntimeException e) {
      server.end(server.life.hasFailed());
      throw e;
    }
  }

  /** Starts the administration, which comes first: a long start can be watched there. */
  private static @Nullable AdminServer administration(ServerConfig config, Advisories advisories)
      throws IOException {
    if (!config.admin().enabled()) {
      return null;
    }
    MembershipStatus unknown =
        new MembershipStatus(
            MembershipStatus.Phase.JOINING,
            config.cluster().enabled() ? config.cluster().id() : "",
            "",
            "NONE",
            "NONE",
            null,
            -1,
            0,
            "the bus starts");
    BusHealth starting = BusHealth.of(BusHealth.State.STARTING, "the bus starts", unknown);
    return AdminServer.start(
        config.admin(),
        () -> starting,
        advisories,
        ConnectionLimit.ofProcess(config.listen().maxConnections(), config.tls().enabled())
            .administration());
  }

  private static BusServer prepare(
      ServerConfig config,
      @Nullable AdminServer admin,
      StoreOpener opener,
      Advisories advisories,
      Clock clock)
      throws IOException {
    Membership membership =
        Membership.open(config, clock, Federation.transport(config.listen()), Federation.STREAMS);
    BusConfig named = new BusConfig(membership.busName(), config.bus().generated());
    JournalStore store = null;
    try {
      store = opener.open(membership, advisories);
      ServerConfig effective = config.withBus(named);
      if (admin != null) {
        effective = effective.withAdminPort(admin.port());
      }
      ResumeKey resumes =
          ResumeKeys.find(
              effective,
              () -> membership.sharedKey("eventbus resume key"),
              Path.of(System.getProperty("user.home", "")));
      Revocations revocations = new Revocations();
      ClientAuthentication authentication =
          ClientAuthentication.of(effective, revocations, advisories, clock);
      return new BusServer(
          effective,
          admin,
          store,
          membership,
          resumes,
          authentication,
          revocations,
          advisories,
          clock);
    } catch (IOException | RuntimeException e) {
      if (store != null) {
        store.close();
      }
      membership.close();
      throw e;
    }
  }

  /**
   * Checks a configuration without starting a bus: the files that it names.
   *
   * @param config the configuration
   * @throws ConfigException if a file cannot be used; names it and the reason
   */
  public static void check(ServerConfig config) {
    ConfigReview.checkAudit(config.audit());
    ConfiguredJournals unused = ConfiguredJournals.read(config.durable().journals());
    TransportServer.check(config);
    Membership.check(config);
    ResumeKeys.check(config);
    ClientAuthentication.check(config);
    AdminServer.check(config.admin());
  }

  /**
   * Reviews a configuration for what is probably not meant, though a bus would start with it.
   *
   * @param config a configuration that {@link #check} accepts
   * @return a line for each
   */
  public static List<String> review(ServerConfig config) {
    return ConfigReview.notes(config, Instant.now());
  }

  private void open(ConfiguredJournals journals) throws IOException {
    revocations =
        membership.registry().addListener(new RegistryRevocations(bus.revocations(), advisories));
    awaitJournals();
    JournalAdministration administration = durable == null ? null : durable.administration();
    if (durable != null && administration != null) {
      journals.apply(administration, String.valueOf(config.durable().directory()));
      // Before clients come: none misses an event.
      durable.start(transport.contexts().stream().map(LoopContext::router).toList());
    }
    transport.start();
    RunningBus view =
        new RunningBus(
            bus,
            calls,
            transport.contexts(),
            load,
            summary(),
            this::health,
            new RunningBus.ClusterViews(
                membership,
                balancer,
                this::figures,
                () -> federation == null ? Map.of() : federation.servedByPeers()),
            administration,
            () -> durable == null ? DurableFigures.NONE : durable.figures(),
            certificates::secondsToExpiry,
            authentication::keysAge);
    if (admin != null) {
      admin.serve(view, authentication.operators(), authentication.permissions());
    }
    if (federation != null) {
      federation.start(
          transport.contexts().stream().map(LoopContext::router).toList(),
          transport.contexts().stream().map(LoopContext::calls).toList(),
          membership.links().orElseThrow(),
          membership.registry());
    }
    membership.serve(transport.address(), adminPort(), store == null ? 0 : store.generation());
    sysTopics = sysTopics(view);
    ServiceQueryResponder answers = new ServiceQueryResponder(config.bus().name(), view);
    questions = answers;
    calls.setBusService(answers);
    certificates.start();
    balancer.start();
    membership.refused().thenAccept(life::fail);
    Optional<String> failed = life.becomeUp();
    if (failed.isPresent()) {
      throw new IOException("the bus has failed before it was up: " + failed.get());
    }
    LOG.debug("bus {} serves {} with {}", config.bus().name(), uri(), loops.transportName());
  }

  /** Waits until the bus knows the journals of its cluster, before it takes clients. */
  private void awaitJournals() throws IOException {
    boolean known =
        membership.awaitRegistry(
            store == null || store.isOpen() ? REGISTRY_TIMEOUT : JOURNALS_TIMEOUT);
    if (store != null) {
      while (!store.awaitReady(JOURNALS_TIMEOUT)) {
        // The registry may tell by now that this bus must not be in the cluster.
        known = membership.awaitRegistry(NO_WAIT);
      }
      store.refused().thenAccept(life::fail);
    } else if (membership.links().isPresent()) {
      guard = PlacementGuard.watch(membership.registry(), life::fail);
      if (known && PlacementGuard.hasJournals(membership.registry().snapshot())) {
        throw new IOException(PlacementGuard.REASON);
      }
    }
  }

  private BusSummary summary() {
    return new BusSummary(
        config.bus().name(),
        BuildInfo.version(),
        bus.clock().instant(),
        List.of(uri().toString()),
        loops.transportName(),
        loops.count(),
        transport.connectionLimit().connections(),
        transport.connectionLimit().message());
  }

  private SysTopics sysTopics(BusView view) {
    Router router = transport.contexts().get(0).router();
    return SysTopics.start(
        config.sys(),
        new SysTopics.Place(
            config.bus().name(),
            membership.registry(),
            () -> membership.standing().phase() == MembershipStatus.Phase.MEMBER),
        view,
        advisories,
        audit,
        observers,
        new SysTopics.Services(calls.presence(), config.services().rejoin()),
        new InternalClient(
            loops.executor(router.loop()),
            router,
            () ->
                bus.sessions()
                    .newProducer(number -> bus.cluster().isLaneLocal(router.loop(), number)),
            bus.clock(),
            bus.stats().sysEventsDropped,
            Runtime.getRuntime().maxMemory() / OWN_TOPICS_PART),
        bus.clock());
  }

  private void failLoop(Throwable cause) {
    String reason = "an event loop met an error";
    try {
      reason = "an event loop met " + cause;
    } finally {
      // Also where the heap has no room for the message.
      life.fail(reason);
    }
  }

  /**
   * Returns a stage that completes when the bus cannot serve any more, and will not recover: the
   * process should end.
   *
   * @return the reason, for people; never completed where the bus ends in order
   */
  public CompletionStage<String> failed() {
    return life.failed();
  }

  /**
   * Reads the files of TLS now: changes are used for connections that begin from now on. Files that
   * cannot be used are logged, and change nothing. Any thread; reads files.
   */
  public void reload() {
    certificates.look();
  }

  EventLoops loops() {
    return loops;
  }

  Sessions sessions() {
    return bus.sessions();
  }

  private BusHealth health() {
    MembershipStatus standing = membership.standing();
    return switch (life.state()) {
      case STARTING -> BusHealth.of(BusHealth.State.STARTING, "the bus starts", standing);
      case UP ->
          balancer.isDraining()
              ? BusHealth.of(
                  BusHealth.State.DRAINING, "the bus sends its clients to others", standing)
              : BusHealth.serving(watch.problems(), standing);
      case FAILED -> failed(standing);
      case DRAINING, STOPPED ->
          life.hasFailed()
              ? failed(standing)
              : BusHealth.of(BusHealth.State.DRAINING, "the bus shuts down", standing);
    };
  }

  private BusHealth failed(MembershipStatus standing) {
    return BusHealth.of(BusHealth.State.FAILED, life.reason(), standing);
  }

  /**
   * Returns the name of the bus.
   *
   * @return the configured one; or a generated one, which a bus in a cluster keeps
   */
  public String name() {
    return config.bus().name();
  }

  /**
   * Returns the URL for clients.
   *
   * @return for example ws://localhost:8080/bus
   */
  public URI uri() {
    InetSocketAddress address = transport.address();
    String host =
        address.getAddress().isAnyLocalAddress()
            ? "localhost"
            : address.getAddress().getHostAddress();
    String shown = host.indexOf(':') >= 0 ? "[" + host + "]" : host;
    return URI.create(
        (config.tls().enabled() ? "wss://" : "ws://")
            + shown
            + ":"
            + address.getPort()
            + config.listen().path());
  }

  /**
   * Returns the port for clients.
   *
   * @return the bound port
   */
  public int port() {
    return transport.address().getPort();
  }

  /**
   * Returns the port of the administration.
   *
   * @return the bound port, or -1 when it is off
   */
  public int adminPort() {
    return admin == null ? -1 : admin.port();
  }

  /**
   * Returns the port for other buses.
   *
   * @return the bound port, or -1 for a bus that serves alone
   */
  public int linkPort() {
    return membership.linkPort();
  }

  /**
   * Ends in order: moves the clients to other buses if there are any, stops accepting, writes what
   * is queued, closes every client that is left with 1001. Takes at most the configured times and a
   * little more; a second call returns at once.
   */
  @Override
  public void close() {
    if (life.beginEnd()) {
      end(life.hasFailed());
    }
  }

  private void closeSysTopics() {
    if (sysTopics != null) {
      sysTopics.close();
    }
    if (questions != null) {
      questions.close();
    }
  }

  private void end(boolean failed) {
    LastSteps end = new LastSteps();
    end.run("looking at certificates", certificates::close);
    if (revocations != null) {
      end.run("hearing of revocations", revocations::close);
    }
    if (guard != null) {
      end.run("looking for journals", guard::close);
    }
    end.run(
        "telling its peers that it ends",
        () -> membership.drain(balancer.leavesForGood() ? Departure.FOR_GOOD : Departure.STOP));
    if (failed) {
      end.run("its own topics", this::closeSysTopics);
      end.run("serving clients", transport::abort);
    } else {
      end.run("moving clients", () -> balancer.empty(config.balance().drainTimeout()));
      end.run("its own topics", this::closeSysTopics);
      end.run("serving clients", () -> transport.close(this::closeFederation));
    }
    if (durable != null) {
      end.run("delivering durable topics", durable::close);
    }
    end.run("balancing", balancer::close);
    if (replacement != null) {
      end.run("ending earlier sessions", replacement::close);
    }
    if (store != null) {
      // Before the links, by which its replica hands over what it leads.
      end.run("its journals", store::close);
    }
    end.run("its part in the cluster", membership::close);
    if (admin != null) {
      end.run("the administration", admin::close);
    }
    end.run("measuring loops", load::close);
    end.run("authentication", authentication::close);
    end.run("the audit log", audit::close);
    life.end();
  }

  private void closeFederation(long deadline) {
    if (federation != null) {
      federation.close(deadline);
    }
  }
}
