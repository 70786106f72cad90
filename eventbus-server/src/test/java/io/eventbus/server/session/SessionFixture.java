package io.eventbus.server.session;

import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.delivery.LoopBarrier;
import io.eventbus.server.durable.FakeJournals;
import io.eventbus.server.durable.FakeReads;
import io.eventbus.server.durable.JournalConsumers;
import io.eventbus.server.durable.StoredDelivery;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.quota.QuotaAccounts;
import io.eventbus.server.routing.JournalRoutes;
import io.eventbus.server.routing.RemoteForwarder;
import io.eventbus.server.routing.Router;
import io.eventbus.server.samples.FakeLoops;
import io.eventbus.server.samples.SampleCalls;
import io.eventbus.server.security.Authentications;
import io.eventbus.server.security.Revocations;
import io.eventbus.server.stats.BusCounters;
import io.eventbus.server.stats.LoopStats;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.time.Clock;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Bus of one loop for tests of its sessions; what differs is set before {@link #context}. */
final class SessionFixture {
  final FakeLoops loops = new FakeLoops(1);
  final SubscriptionIndex index = new SubscriptionIndex(1);
  final BusMemory memory = new BusMemory(1 << 30);
  final BusCounters counters = new BusCounters(1);
  final Advisories advisories = new Advisories();
  final Revocations revocations = new Revocations();
  final SampleCalls.FakePort port = new SampleCalls.FakePort();
  final JournalRoutes routes = new JournalRoutes();
  final Sessions sessions;
  private final Clock clock;
  private final Authentications authentications;
  private ServerConfig config = ServerConfig.defaults();
  private ByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
  private QuotaAccounts quotas = new QuotaAccounts(new Advisories(), System::nanoTime);
  private ClusterGuarantees cluster = ClusterGuarantees.ALONE;
  private WorkBudget budget = new WorkBudget(() -> 0);
  @Nullable FakeJournals journals;
  final FakeReads reads = new FakeReads();
  private @Nullable JournalConsumers consumers;
  private @Nullable StoredDelivery stored;
  private @Nullable LoopContext context;

  SessionFixture(Clock clock, Authentications authentications) {
    this(clock, authentications, new Sessions("bus", clock));
  }

  SessionFixture(Clock clock, Authentications authentications, Sessions sessions) {
    this.clock = clock;
    this.authentications = authentications;
    this.sessions = sessions;
  }

  SessionFixture config(Map<String, String> settings) {
    config = ServerConfig.of(settings);
    return this;
  }

  SessionFixture allocator(ByteBufAllocator of) {
    allocator = of;
    return this;
  }

  SessionFixture withJournals() {
    FakeJournals created = new FakeJournals();
    journals = created;
    consumers = reads.consumers(created, loops, memory, allocator);
    return this;
  }

  SessionFixture stored(StoredDelivery of) {
    stored = of;
    return this;
  }

  SessionFixture quotas(QuotaAccounts of) {
    quotas = of;
    return this;
  }

  SessionFixture cluster(ClusterGuarantees of) {
    cluster = of;
    return this;
  }

  SessionFixture budget(WorkBudget of) {
    budget = of;
    return this;
  }

  /** Returns the context of the loop; always the same. */
  LoopContext context() {
    LoopContext created = context;
    if (created == null) {
      created = context(authentications);
      context = created;
    }
    return created;
  }

  /** Returns another context of the loop, with another way to authenticate. */
  LoopContext context(Authentications of) {
    BusContext bus =
        new BusContext(
            "bus",
            config.limits(),
            index,
            memory,
            sessions,
            of,
            new LoopBarrier(loops),
            counters,
            clock,
            cluster,
            advisories,
            quotas,
            revocations,
            config.services(),
            journals,
            journals == null ? null : consumers,
            stored);
    LoopStats stats = counters.loops().get(0);
    Router router =
        new Router(
            0, loops, index, allocator, memory, stats, RemoteForwarder.NONE, routes, () -> {});
    return new LoopContext(
        bus, router, stats, allocator, SampleCalls.calls(loops, memory, stats.calls, port), budget);
  }
}
