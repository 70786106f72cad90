package io.eventbus.server;

import io.eventbus.protocol.CloseReason;
import io.eventbus.registry.BusId;
import io.eventbus.schema.CallPriority;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.balance.BalanceView;
import io.eventbus.server.call.BusCalls;
import io.eventbus.server.call.MemberFigures;
import io.eventbus.server.call.OpenCall;
import io.eventbus.server.call.ServiceFigures;
import io.eventbus.server.call.ServiceKey;
import io.eventbus.server.cluster.ClusterView;
import io.eventbus.server.config.Quota;
import io.eventbus.server.durable.DurableFigures;
import io.eventbus.server.durable.JournalAdministration;
import io.eventbus.server.durable.ShardView;
import io.eventbus.server.federation.FederationFigures;
import io.eventbus.server.measure.LoopLoad;
import io.eventbus.server.measure.RecentTopics;
import io.eventbus.server.measure.RegistryFigures;
import io.eventbus.server.quota.QuotaUse;
import io.eventbus.server.routing.TopicCount;
import io.eventbus.server.session.BusContext;
import io.eventbus.server.session.LoopContext;
import io.eventbus.server.session.Session;
import io.eventbus.server.session.SessionServices;
import io.eventbus.server.stats.BusCounters;
import io.eventbus.server.stats.DropReason;
import io.eventbus.server.stats.LatencyBuckets;
import io.eventbus.server.stats.LoopStats;
import io.eventbus.server.stats.RefusalReason;
import io.eventbus.server.stats.RetryReason;
import io.eventbus.server.stats.TlsFailure;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.view.AccountInfo;
import io.eventbus.server.view.BusHealth;
import io.eventbus.server.view.BusStats;
import io.eventbus.server.view.BusSummary;
import io.eventbus.server.view.BusView;
import io.eventbus.server.view.CallInfo;
import io.eventbus.server.view.ConnectionDetail;
import io.eventbus.server.view.ConnectionView;
import io.eventbus.server.view.QuotaInfo;
import io.eventbus.server.view.ServiceDetail;
import io.eventbus.server.view.ServiceInfo;
import io.eventbus.server.view.SubscriptionInfo;
import io.eventbus.server.view.SubscriptionKey;
import io.eventbus.server.view.TopicInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * View of a bus for its administration: reads the counters of the loops, without making them wait.
 * Any thread.
 */
final class RunningBus implements BusView {
  /** Time after which a loop that has not answered for its calls is stuck. */
  private static final long LOOPS_ANSWER_SECONDS = 2;

  /** Codes with which publications to durable topics are refused. */
  private static final List<ErrorCode> NOT_STORED =
      List.of(
          ErrorCode.EXPECTATION_FAILED,
          ErrorCode.NO_JOURNAL,
          ErrorCode.SEQUENCE_GAP,
          ErrorCode.STORE_FULL,
          ErrorCode.TOO_BIG,
          ErrorCode.UNAVAILABLE);

  private final BusContext bus;
  private final BusCalls calls;
  private final RecentTopics topics;
  private final LoopLoad load;
  private final BusSummary summary;
  private final Supplier<BusHealth> health;
  private final ClusterViews views;
  private final @Nullable JournalAdministration journals;
  private final Supplier<DurableFigures> durable;
  private final Supplier<Map<String, Long>> certificates;
  private final Supplier<Optional<Duration>> keysAge;

  /** Views of the cluster for the administration. */
  record ClusterViews(
      ClusterView cluster,
      BalanceView balance,
      Supplier<FederationFigures> federation,
      Supplier<Map<ServiceKey, Set<BusId>>> served) {}

  RunningBus(
      BusContext bus,
      BusCalls calls,
      List<LoopContext> loops,
      LoopLoad load,
      BusSummary summary,
      Supplier<BusHealth> health,
      ClusterViews views,
      @Nullable JournalAdministration journals,
      Supplier<DurableFigures> durable,
      Supplier<Map<String, Long>> certificates,
      Supplier<Optional<Duration>> keysAge) {
    this.bus = bus;
    this.calls = calls;
    this.topics =
        new RecentTopics(
            () -> loops.stream().flatMap(loop -> loop.router().topics().stream()),
            System::nanoTime);
    this.load = load;
    this.summary = summary;
    this.health = health;
    this.views = views;
    this.journals = journals;
    this.durable = durable;
    this.certificates = certificates;
    this.keysAge = keysAge;
  }

  @Override
  public BusHealth health() {
    return health.get();
  }

  @Override
  public ClusterView cluster() {
    return views.cluster();
  }

  @Override
  public BalanceView balance() {
    return views.balance();
  }

  @Override
  public @Nullable JournalAdministration journals() {
    return journals;
  }

  @Override
  public BusSummary summary() {
    return summary;
  }

  @Override
  public BusStats stats() {
    BusCounters c = bus.stats();
    long queued = 0;
    for (Session session : bus.sessions().after(0)) {
      queued += session.out().bytes();
    }
    return new BusStats(
        new BusStats.Connections(
            c.connections.get(),
            summary.connectionLimit(),
            c.accepted.sum(),
            refusals(c),
            tlsFailures(c),
            closes(c),
            c.authenticationFailures.sum(),
            c.resumesRejected.sum(),
            cluster().refusedLinks(),
            Map.of(
                "ended", c.staleSessionsEnded.sum(),
                "gone", c.staleSessionsGone.sum(),
                "unknown", c.staleSessionsUnknown.sum())),
        new BusStats.Traffic(
            c.sum(l -> l.messagesIn.get()),
            c.sum(l -> l.messagesOut.get()),
            c.sum(l -> l.eventsIn.get()),
            c.sum(l -> l.eventsOut.get()),
            c.sum(l -> l.bytesIn.get()),
            c.sum(l -> l.bytesOut.get()),
            c.sum(l -> l.deliveries.get()),
            c.sum(l -> l.acks.get()),
            c.sum(l -> l.publishersStopped.get()),
            bus.index().changesDelayed(),
            c.sysEventsDropped.sum(),
            c.auditDropped.sum()),
        new BusStats.Memory(
            queued, bus.memory().used(), bus.memory().limit(), bus.index().routeBytes()),
        drops(c),
        c.sum(l -> l.gaps.get()),
        problems(c),
        histogram(c, loop -> loop.latency),
        calls(c),
        load.read(),
        bus.index().topics(),
        bus.index().accounts().subscriptions(),
        bus.index().accounts().served(),
        RegistryFigures.of(cluster()),
        views.balance().status(),
        views.federation().get(),
        new BusStats.Quotas(bus.quotas().waits(), bus.quotas().refusals()),
        durable(c),
        certificates.get(),
        keysAge.get().map(age -> age.toMillis() / 1e3).orElse(null));
  }

  private BusStats.Durable durable(BusCounters c) {
    Map<String, Long> refusals = new LinkedHashMap<>();
    for (ErrorCode code : NOT_STORED) {
      refusals.put(label(code), c.notStored(code));
    }
    DurableFigures figures = durable.get();
    return new BusStats.Durable(
        figures.journals(),
        figures.bytes(),
        figures.events(),
        figures.subscriptions(),
        figures.maxLag(),
        figures.pendingBytes(),
        c.sum(l -> l.stored.get()),
        c.sum(l -> l.lateSettlements.get()),
        refusals,
        led().isEmpty() ? 0 : 1,
        led().stream()
            .flatMap(shard -> shard.members().stream())
            .mapToLong(ShardView.Member::behind)
            .max()
            .orElse(0));
  }

  /** Returns the groups of replicas that this bus leads. */
  private List<ShardView> led() {
    return journals == null
        ? List.of()
        : journals.shards().stream()
            .filter(shard -> summary.name().equals(shard.leader()))
            .toList();
  }

  private static Map<String, Long> closes(BusCounters c) {
    Map<String, Long> counts = new LinkedHashMap<>();
    for (CloseReason reason : CloseReason.values()) {
      counts.put(label(reason), c.closes(reason));
    }
    counts.put("closed_by_client", c.closesByPeer());
    counts.put(
        "too_many_connections", refusals(c).values().stream().mapToLong(Long::longValue).sum());
    counts.put("not_upgraded", c.badRequests.sum());
    return counts;
  }

  private static Map<String, Long> refusals(BusCounters c) {
    Map<String, Long> counts = new LinkedHashMap<>();
    for (RefusalReason reason : RefusalReason.values()) {
      counts.put(label(reason), c.refused(reason));
    }
    return counts;
  }

  private static Map<String, Long> tlsFailures(BusCounters c) {
    Map<String, Long> counts = new LinkedHashMap<>();
    for (TlsFailure reason : TlsFailure.values()) {
      counts.put(label(reason), c.tlsFailures(reason));
    }
    return counts;
  }

  private static Map<String, Long> drops(BusCounters c) {
    Map<String, Long> counts = new LinkedHashMap<>();
    for (DropReason reason : DropReason.values()) {
      counts.put(label(reason), c.sum(l -> l.drops(reason).get()));
    }
    return counts;
  }

  private static Map<String, Long> problems(BusCounters c) {
    Map<String, Long> counts = new LinkedHashMap<>();
    for (ErrorCode code : ErrorCode.values()) {
      counts.put(label(code), c.problems(code));
    }
    return counts;
  }

  private static String label(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private BusStats.Calls calls(BusCounters c) {
    Map<String, Long> ended = new LinkedHashMap<>();
    ended.put("reply", c.sum(l -> l.calls.replies.get()));
    for (FailureCode code : FailureCode.values()) {
      ended.put(label(code), c.sum(l -> l.calls.failures(code).get()));
    }
    Map<String, Long> retries = new LinkedHashMap<>();
    for (RetryReason reason : RetryReason.values()) {
      retries.put(label(reason), c.sum(l -> l.calls.retries(reason).get()));
    }
    Map<String, Long> shed = new LinkedHashMap<>();
    for (CallPriority priority : CallPriority.values()) {
      shed.put(label(priority), c.sum(l -> l.calls.shed(priority).get()));
    }
    return new BusStats.Calls(
        ended,
        histogram(c, loop -> loop.calls.time),
        histogram(c, loop -> loop.calls.queueTime),
        c.sum(l -> l.calls.inFlight.get()),
        c.sum(l -> l.calls.queued.get()),
        retries,
        shed,
        c.sum(l -> l.calls.expired.get()),
        c.sum(l -> l.calls.tunnels.get()),
        c.sum(l -> l.calls.tunnelBytes.get()),
        calls.serviceCount(),
        calls.memberCount(),
        c.sum(l -> l.callsFromBuses.requests.get()));
  }

  private static BusStats.Histogram histogram(
      BusCounters c, Function<LoopStats, LatencyBuckets> which) {
    long[] bounds = LatencyBuckets.boundsMicros();
    long[] sums = new long[bounds.length + 1];
    long sumMicros = 0;
    for (LoopStats loop : c.loops()) {
      LatencyBuckets one = which.apply(loop);
      long[] counts = one.counts();
      for (int i = 0; i < sums.length; i++) {
        sums[i] += counts[i];
      }
      sumMicros += one.sumMicros();
    }
    List<BusStats.Bucket> buckets = new ArrayList<>();
    for (int i = 0; i < sums.length; i++) {
      double bound = i < bounds.length ? bounds[i] / 1e6 : Double.POSITIVE_INFINITY;
      buckets.add(new BusStats.Bucket(bound, sums[i]));
    }
    return new BusStats.Histogram(buckets, sumMicros / 1e6);
  }

  @Override
  public List<ServiceInfo> services(String account, String after, int limit) {
    // The first names only: an account may have many more than a page.
    TreeSet<String> names = new TreeSet<>();
    Consumer<ServiceKey> visitor =
        key -> {
          if (key.account().equals(account) && key.name().compareTo(after) > 0) {
            names.add(key.name());
            if (names.size() > limit) {
              names.pollLast();
            }
          }
        };
    calls.forEachService(visitor);
    views.served().get().keySet().forEach(visitor);
    return names.stream().map(name -> describe(figures(account, name))).toList();
  }

  /** Returns the figures of a service that may have members at peers only. */
  private ServiceFigures figures(String account, String name) {
    return calls
        .service(new ServiceKey(account, name))
        .orElseGet(() -> new ServiceFigures(account, name, 0, List.of()));
  }

  private ServiceInfo describe(ServiceFigures service) {
    int window = 0;
    int outstanding = 0;
    for (MemberFigures member : service.members()) {
      window += member.window();
      outstanding += member.outstanding();
    }
    return new ServiceInfo(
        service.name(),
        service.members().size(),
        window,
        outstanding,
        service.queued(),
        views
            .served()
            .get()
            .getOrDefault(new ServiceKey(service.account(), service.name()), Set.of())
            .stream()
            .map(BusId::value)
            .sorted()
            .toList());
  }

  @Override
  public Optional<ServiceDetail> service(String account, String name) {
    ServiceFigures service = figures(account, name);
    if (service.members().isEmpty()
        && !views.served().get().containsKey(new ServiceKey(account, name))) {
      return Optional.empty();
    }
    return Optional.of(
        new ServiceDetail(
            describe(service), service.members().stream().map(m -> describe(name, m)).toList()));
  }

  @Override
  public boolean drainMember(String account, String service, long member) {
    Session session = bus.sessions().ofProducer(member);
    SessionServices serves =
        session == null || !session.principal().account().equals(account)
            ? null
            : session.services();
    return serves != null && serves.drain(service);
  }

  @Override
  public List<CallInfo> slowestCalls(int limit) {
    List<OpenCall> open;
    try {
      open = calls.slowest(limit).get(LOOPS_ANSWER_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while the loops were asked", e);
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException(
          "the loops have not answered within " + LOOPS_ANSWER_SECONDS + " s", e);
    }
    return open.stream()
        .sorted(Comparator.comparingLong(OpenCall::ageNanos).reversed())
        .limit(limit)
        .map(RunningBus::describe)
        .toList();
  }

  private static CallInfo describe(OpenCall call) {
    return new CallInfo(
        call.account(),
        call.service(),
        call.method(),
        call.caller(),
        call.request(),
        call.member(),
        call.waits() ? "QUEUED" : "DISPATCHED",
        call.attempt(),
        TimeUnit.NANOSECONDS.toMillis(call.ageNanos()),
        Math.max(0, TimeUnit.NANOSECONDS.toMillis(call.leftNanos())));
  }

  private ServiceDetail.Member describe(String service, MemberFigures member) {
    Session session = bus.sessions().ofProducer(member.number());
    SessionServices serves = session == null ? null : session.services();
    SessionServices.Registration said = serves == null ? null : serves.registration(service);
    return new ServiceDetail.Member(
        member.number(),
        session == null ? 0 : session.identity().number(),
        session == null ? "" : session.identity().client(),
        said == null ? "" : said.version(),
        said == null ? Map.of() : said.metadata(),
        member.concurrency(),
        member.window(),
        member.outstanding(),
        member.latencyMicros(),
        member.completions());
  }

  @Override
  public List<AccountInfo> accounts(String after, int limit) {
    return bus.index().accounts().list(after, limit).stream()
        .map(a -> new AccountInfo(a.name(), a.clients(), a.subscriptions()))
        .toList();
  }

  @Override
  public List<ConnectionView> connections(@Nullable String account, long after, int limit) {
    List<ConnectionView> page = new ArrayList<>();
    for (Session session : bus.sessions().after(after)) {
      if (page.size() >= limit) {
        break;
      }
      if (isOf(account, session)) {
        page.add(describe(session));
      }
    }
    return page;
  }

  private static boolean isOf(@Nullable String account, Session session) {
    return account == null || session.principal().account().equals(account);
  }

  private static ConnectionView describe(Session session) {
    return new ConnectionView(
        session.identity().number(),
        session.connection().remoteAddress(),
        session.identity().since(),
        session.id(),
        session.producer(),
        session.principal().account(),
        session.identity().client(),
        session.identity().agent(),
        session.identity().attributes(),
        session.subscriptions().size(),
        session.published(),
        session.delivered(),
        session.out().dropped(),
        session.acknowledgements().count(),
        session.out().bytes());
  }

  @Override
  public Optional<ConnectionDetail> connection(long id) {
    return Optional.ofNullable(bus.sessions().find(id))
        .map(session -> new ConnectionDetail(describe(session), acknowledged(session)));
  }

  private static List<ConnectionDetail.Acknowledged> acknowledged(Session session) {
    return session.acknowledgements().latest().entrySet().stream()
        .map(
            e ->
                new ConnectionDetail.Acknowledged(
                    e.getKey().topic(), e.getKey().producer(), e.getValue()))
        .sorted(
            Comparator.comparing(ConnectionDetail.Acknowledged::topic)
                .thenComparing(ConnectionDetail.Acknowledged::producer))
        .toList();
  }

  @Override
  public boolean disconnect(long id, String reason) {
    Session session = bus.sessions().find(id);
    if (session == null) {
      return false;
    }
    session.close(CloseReason.NORMAL, reason);
    return true;
  }

  @Override
  public List<TopicInfo> topics(String account, String after, int limit) {
    List<TopicCount> page = topics.after(account, after, limit);
    int[] subscribers =
        bus.index()
            .accounts()
            .findOrNobody(account)
            .subscribers(page.stream().map(TopicCount::topic).toList());
    List<TopicInfo> infos = new ArrayList<>();
    for (int i = 0; i < page.size(); i++) {
      TopicCount t = page.get(i);
      infos.add(new TopicInfo(t.topic(), subscribers[i], t.events(), t.deliveries()));
    }
    return infos;
  }

  @Override
  public List<SubscriptionInfo> subscriptions(
      @Nullable String account, SubscriptionKey after, int limit) {
    List<SubscriptionInfo> page = new ArrayList<>();
    // Connections are numbered from 1.
    for (Session session : bus.sessions().after(Math.max(1, after.connection()) - 1)) {
      if (!isOf(account, session)) {
        continue;
      }
      String of = session.principal().account();
      long connection = session.identity().number();
      session.subscriptions().list().stream()
          .sorted(Comparator.comparingLong(RoutedSubscription::id))
          .filter(s -> new SubscriptionKey(connection, s.id()).compareTo(after) > 0)
          .limit(limit - page.size())
          .forEach(s -> page.add(describe(connection, of, s)));
      if (page.size() >= limit) {
        break;
      }
    }
    return page;
  }

  private static SubscriptionInfo describe(long connection, String account, RoutedSubscription s) {
    return new SubscriptionInfo(
        connection, s.id(), account, s.filter().toString(), s.group(), s.overflow().name());
  }

  @Override
  public List<QuotaInfo> quotas(long after, int limit) {
    return bus.quotas().list(after, limit).stream().map(this::describe).toList();
  }

  @Override
  public List<QuotaInfo> quotas(String account, @Nullable String subject) {
    return bus.quotas().find(account, subject).stream().map(this::describe).toList();
  }

  private QuotaInfo describe(QuotaUse use) {
    List<QuotaInfo.Use> quotas = new ArrayList<>();
    Quota.all(use.subject() == null)
        .forEach(
            quota ->
                quotas.add(
                    new QuotaInfo.Use(
                        quota.key(),
                        use.limits().limit(quota),
                        used(use, quota),
                        use.reached().getOrDefault(quota, 0L))));
    return new QuotaInfo(use.number(), use.account(), use.subject(), use.anonymous(), quotas);
  }

  private @Nullable Long used(QuotaUse use, Quota quota) {
    if (!quota.isOfAccounts()) {
      return use.used(quota);
    }
    DurableFigures.Account held =
        durable.get().accounts().getOrDefault(use.account(), DurableFigures.Account.NONE);
    return quota == Quota.JOURNALS ? held.journals() : held.bytes();
  }
}
