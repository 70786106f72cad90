package io.eventbus.server.admin;

import io.eventbus.registry.AccountSubject;
import io.eventbus.registry.RevocationCommand;
import io.eventbus.server.balance.BalanceView;
import io.eventbus.server.cluster.ClusterView;
import io.eventbus.server.cluster.MembershipStatus;
import io.eventbus.server.durable.JournalAdministration;
import io.eventbus.server.federation.FederationFigures;
import io.eventbus.server.federation.call.CallStreamFigures;
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
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Bus made of plain values. */
public final class FakeBus implements BusView {
  /** Names of the threads that have listed services. */
  final Set<String> listedBy = ConcurrentHashMap.newKeySet();

  /** Number that JavaScript cannot tell from its neighbours. */
  static final long PRODUCER = 5_600_182_125_594_357_123L;

  /** Time of the start. */
  public static final Instant STARTED = Instant.parse("2026-01-02T03:04:05Z");

  final ConcurrentSkipListMap<Long, ConnectionView> connections = new ConcurrentSkipListMap<>();
  final List<String> disconnected = new ArrayList<>();
  final FakeCluster cluster = new FakeCluster();
  static final MembershipStatus ALONE =
      new MembershipStatus(MembershipStatus.Phase.MEMBER, "", "", "ALONE", "UP", null, -1, 0, "");

  volatile BusHealth health = new BusHealth(BusHealth.State.UP, List.of(), ALONE);
  volatile boolean broken;
  volatile @Nullable JournalAdministration journals;

  /** Sets the journals from now on. */
  public void journals(JournalAdministration now) {
    journals = now;
  }

  @Override
  public @Nullable JournalAdministration journals() {
    return journals;
  }

  /** Starts the registry, so that it takes commands. */
  public void startRegistry() throws Exception {
    cluster.start().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  /** Revokes the credentials of a client. */
  public void revoke(String account, String subject) {
    cluster
        .submit(
            new RevocationCommand.Revoke(new AccountSubject(account, subject), 1, 1_000_000),
            Duration.ofSeconds(20))
        .toCompletableFuture()
        .join();
  }

  /** Ends the registry. */
  public void closeRegistry() {
    cluster.close();
  }

  /** Sets whether its description fails from now on. */
  public void broken(boolean now) {
    broken = now;
  }

  /** Creates a bus that has so many connections. */
  public FakeBus(int connectionCount) {
    LongStream.rangeClosed(1, connectionCount)
        .forEach(id -> connections.put(id, newConnection(id)));
  }

  @Override
  public BusHealth health() {
    return health;
  }

  final FakeBalance balance = new FakeBalance();

  @Override
  public ClusterView cluster() {
    return cluster;
  }

  @Override
  public BusSummary summary() {
    if (broken) {
      throw new IllegalStateException("a secret detail");
    }
    return new BusSummary(
        "bus-1", "1.2.3", STARTED, List.of("ws://localhost:1/bus"), "nio", 2, 12, "so configured");
  }

  @Override
  public BusStats stats() {
    return new BusStats(
        new BusStats.Connections(
            3,
            12,
            17,
            Map.of("descriptors", 14L),
            Map.of("certificate", 16L),
            Map.of("NORMAL", 4L, "SLOW_CONSUMER", 1L),
            15,
            12,
            Map.of("stranger", 18L),
            Map.of("ended", 13L)),
        new BusStats.Traffic(10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120),
        new BusStats.Memory(100, 200, 300, 400),
        Map.of("DROP_OLDEST", 5L),
        6,
        Map.of("ILLEGAL_TOPIC", 7L),
        new BusStats.Histogram(
            List.of(
                new BusStats.Bucket(0.001, 8),
                new BusStats.Bucket(0.01, 2),
                new BusStats.Bucket(Double.POSITIVE_INFINITY, 1)),
            1.5),
        new BusStats.Calls(
            Map.of("reply", 51L, "no_member", 52L),
            new BusStats.Histogram(List.of(new BusStats.Bucket(Double.POSITIVE_INFINITY, 53)), 5.5),
            new BusStats.Histogram(List.of(new BusStats.Bucket(Double.POSITIVE_INFINITY, 54)), 6.5),
            55,
            56,
            Map.of("lost", 57L),
            Map.of("low", 58L),
            59,
            62,
            63,
            60,
            61,
            62),
        List.of(new BusStats.Loop("loop-1", 12.5, 0.25)),
        9,
        11,
        62,
        new BusStats.Registry(
            Map.of("up", 3L),
            true,
            21,
            22,
            new BusStats.Histogram(
                List.of(
                    new BusStats.Bucket(0.001, 5),
                    new BusStats.Bucket(Double.POSITIVE_INFINITY, 1)),
                0.25),
            23,
            24,
            25,
            26.5,
            27.5),
        balance.status(),
        new FederationFigures(
            31,
            32,
            33,
            34,
            35,
            36,
            37,
            38,
            Map.of("given_up", 39L),
            Map.of("bus-b", 40L),
            41,
            42,
            List.of(43L, 44L),
            45,
            46,
            47,
            new CallStreamFigures(63, 64, 65, 66, 67, 68)),
        new BusStats.Quotas(Map.of("publish_events", 49L), Map.of("account_connections", 50L)),
        new BusStats.Durable(71, 72, 73, 79, 80, 74, 75, 81, Map.of("store_full", 76L), 77, 78),
        Map.of("listen", 48L),
        51.0);
  }

  @Override
  public BalanceView balance() {
    return balance;
  }

  @Override
  public List<AccountInfo> accounts(String after, int limit) {
    return Stream.of("acme", "b&b", "other")
        .filter(name -> name.compareTo(after) > 0)
        .limit(limit)
        .map(name -> new AccountInfo(name, 2, 5))
        .toList();
  }

  @Override
  public List<ServiceInfo> services(String account, String after, int limit) {
    listedBy.add(Thread.currentThread().getName());
    return List.of(
            new ServiceInfo("orders", 1, 4, 2, 3, List.of("bus-2")),
            new ServiceInfo("orders.v2", 1, 1, 0, 0, List.of()),
            new ServiceInfo("prices", 2, 2, 0, 0, List.of()))
        .stream()
        .filter(service -> account.isEmpty() && service.name().compareTo(after) > 0)
        .limit(limit)
        .toList();
  }

  @Override
  public Optional<ServiceDetail> service(String account, String name) {
    return services(account, "", 9).stream()
        .filter(service -> service.name().equals(name))
        .findFirst()
        .map(
            service ->
                new ServiceDetail(
                    service,
                    List.of(
                        new ServiceDetail.Member(
                            5, 7, "worker", "2.1", Map.of("zone", "eu"), 4, 4, 2, 900, 12))));
  }

  @Override
  public boolean drainMember(String account, String service, long member) {
    return account.isEmpty() && service.equals("orders") && member == 5;
  }

  @Override
  public List<CallInfo> slowestCalls(int limit) {
    return List.of(
        new CallInfo("", "orders", "get", Long.MAX_VALUE, 7, 5, "DISPATCHED", 0, 1_500, 28_500));
  }

  @Override
  public List<ConnectionView> connections(@Nullable String account, long after, int limit) {
    return connections.tailMap(after, false).values().stream()
        .filter(c -> account == null || c.account().equals(account))
        .limit(limit)
        .toList();
  }

  @Override
  public Optional<ConnectionDetail> connection(long id) {
    return Optional.ofNullable(connections.get(id))
        .map(
            c ->
                new ConnectionDetail(
                    c, List.of(new ConnectionDetail.Acknowledged("a.b", PRODUCER, 12))));
  }

  @Override
  public boolean disconnect(long id, String reason) {
    disconnected.add(id + " " + reason);
    return connections.remove(id) != null;
  }

  @Override
  public List<TopicInfo> topics(String account, String after, int limit) {
    return LongStream.range(0, 5)
        .mapToObj(i -> new TopicInfo(account + "a&b." + i, 1, 2, 3))
        .filter(t -> t.name().compareTo(after) > 0)
        .limit(limit)
        .toList();
  }

  @Override
  public List<SubscriptionInfo> subscriptions(
      @Nullable String account, SubscriptionKey after, int limit) {
    return connections.keySet().stream()
        .flatMap(
            c ->
                LongStream.of(1, 2)
                    .mapToObj(
                        id -> new SubscriptionInfo(c, id, accountOf(c), "a.>", null, "BLOCK")))
        .filter(s -> account == null || s.account().equals(account))
        .filter(s -> new SubscriptionKey(s.connection(), s.id()).compareTo(after) > 0)
        .sorted(
            Comparator.comparingLong(SubscriptionInfo::connection)
                .thenComparingLong(SubscriptionInfo::id))
        .limit(limit)
        .toList();
  }

  @Override
  public List<QuotaInfo> quotas(long after, int limit) {
    return Stream.of(quotaOf(1, null), quotaOf(2, "u1"))
        .filter(q -> q.id() > after)
        .limit(limit)
        .toList();
  }

  @Override
  public List<QuotaInfo> quotas(String account, @Nullable String subject) {
    return quotas(0, 2).stream()
        .filter(q -> q.account().equals(account) && Objects.equals(q.subject(), subject))
        .toList();
  }

  private static QuotaInfo quotaOf(long id, @Nullable String subject) {
    return new QuotaInfo(
        id,
        "acme",
        subject,
        false,
        List.of(
            new QuotaInfo.Use("connections", 10, 3L, 4),
            new QuotaInfo.Use("publish-events", 100, null, 5)));
  }

  /** Returns the account; every fifth connection has one of its own. */
  private static String accountOf(long connection) {
    return connection % 5 == 0 ? "b&b" : "";
  }

  private static ConnectionView newConnection(long id) {
    return new ConnectionView(
        id,
        "127.0.0.1:" + id,
        STARTED,
        "s" + id,
        PRODUCER,
        accountOf(id),
        "<b>me",
        "test/1",
        Map.of(),
        2,
        0,
        0,
        0,
        0,
        0);
  }
}
