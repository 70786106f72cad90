package io.eventbus.server.federation;

import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkPeer;
import io.eventbus.link.LinkTransport;
import io.eventbus.link.StreamAcceptor;
import io.eventbus.registry.BusId;
import io.eventbus.registry.ListenerRegistration;
import io.eventbus.registry.Registry;
import io.eventbus.server.call.LoopCalls;
import io.eventbus.server.call.ServedHere;
import io.eventbus.server.call.ServiceKey;
import io.eventbus.server.config.FederationConfig;
import io.eventbus.server.config.ListenConfig;
import io.eventbus.server.federation.call.PeerServices;
import io.eventbus.server.federation.interest.InterestExchange;
import io.eventbus.server.federation.interest.LocalInterest;
import io.eventbus.server.federation.lane.ClockAndRandom;
import io.eventbus.server.federation.lane.DeadlineScheduler;
import io.eventbus.server.federation.lane.LaneLoop;
import io.eventbus.server.federation.lane.Lanes;
import io.eventbus.server.federation.lane.OneShotLatch;
import io.eventbus.server.federation.tree.ForwardRelay;
import io.eventbus.server.federation.tree.LoopForwarder;
import io.eventbus.server.routing.BusMemory;
import io.eventbus.server.routing.RemoteForwarder;
import io.eventbus.server.routing.Router;
import io.eventbus.server.routing.SubscriptionIndex;
import io.eventbus.server.session.ClusterGuarantees;
import io.eventbus.server.session.InterestShare;
import io.eventbus.server.transport.EventLoops;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoop;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One bus's end of all that goes between buses. It is made before the routers, which it forwards
 * for, and started when they and the links are there. Any thread.
 */
public final class Federation implements ClusterGuarantees {
  /** The kinds of streams that are taken once a bus has started its federation. */
  public static final Set<String> STREAMS = Set.of(PeerServices.KIND, Lanes.KIND);

  private static final Logger LOG = LoggerFactory.getLogger(Federation.class);

  /** How long the others may take to hear that this bus ends. */
  private static final long GOODBYE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Lanes lanes;
  private final LocalInterest interest;
  private final InterestLimits limits;
  private final PeerServices services;
  private final InterestExchange exchange;
  private final PeerTracker members;
  private final OneShotLatch startGate = new OneShotLatch();
  private final LongAdder late = new LongAdder();
  private @Nullable ListenerRegistration registration;

  /**
   * Prepares the lanes of a bus; it opens none yet.
   *
   * @param maxFrameBytes the largest frame that another bus may send
   */
  public Federation(
      FederationConfig config,
      BusId self,
      int maxFrameBytes,
      EventLoops eventLoops,
      SubscriptionIndex index,
      BusMemory memory) {
    this(
        config,
        self,
        maxFrameBytes,
        IntStream.range(0, eventLoops.count()).mapToObj(eventLoops::loop).toList(),
        index,
        memory,
        ClockAndRandom.REAL);
  }

  Federation(
      FederationConfig config,
      BusId self,
      int maxFrameBytes,
      List<EventLoop> eventLoops,
      SubscriptionIndex index,
      BusMemory memory,
      ClockAndRandom clock) {
    // What leads through other buses names them by their numbers.
    lanes =
        new Lanes(
            config, self, maxFrameBytes, eventLoops, memory, clock, index.accounts()::invalidate);
    interest = new LocalInterest(this::interestChanged);
    limits = new InterestLimits(config.filters());
    services = new PeerServices(lanes);
    exchange = new InterestExchange(lanes, index, interest, startGate, services);
    members = new PeerTracker(lanes, exchange, services);
    lanes.listen(exchange, new PromisesAndMembers());
    index.onLocalChange(interest);
  }

  private final class PromisesAndMembers implements DeadlineScheduler {
    @Override
    public void onTick(long nowNanos) {
      exchange.onTick();
      members.onTick(nowNanos);
    }

    @Override
    public boolean areNear() {
      return exchange.isWaitedFor();
    }
  }

  /** Says what drives the sockets of links, so that lanes can be given to the loops of clients. */
  public static LinkTransport transport(ListenConfig listen) {
    return EventLoops.usesEpoll(listen.transport())
        ? new LinkTransport(
            EpollIoHandler.newFactory(), EpollServerSocketChannel.class, EpollSocketChannel.class)
        : LinkTransport.nio();
  }

  /** Returns where the router of a loop forwards to. */
  public RemoteForwarder forwarder(int loop) {
    return new LoopForwarder(lanes.loop(loop), startGate);
  }

  /** Begins to open lanes and to take them. */
  public void start(
      List<Router> routers, List<LoopCalls> calls, LinkNode linkNode, Registry registry) {
    services.start(calls);
    start(routers, linkNode::openStream);
    linkNode.acceptStreams(
        PeerServices.KIND,
        new StreamAcceptor() {
          @Override
          public EventLoop loop(LinkPeer peer) {
            return services.loop(peer);
          }

          @Override
          public ChannelHandler handler(LinkPeer peer) {
            return services.receiver(peer);
          }
        });
    linkNode.acceptStreams(
        Lanes.KIND,
        new StreamAcceptor() {
          @Override
          public EventLoop loop(LinkPeer peer) {
            return lanes.loopFor(peer).eventLoop();
          }

          @Override
          public ChannelHandler handler(LinkPeer peer) {
            return lanes.receiver(peer);
          }
        });
    follow(registry);
  }

  /** From now on the registry says which buses there are. */
  void follow(Registry registry) {
    registration = registry.addListener((snapshot, changes) -> members.onSnapshot(snapshot));
    // A bus that does not find the others serves all the same.
    var unused = lanes.loop(0).schedule(startGate::open, lanes.config().syncTimeout().toMillis());
  }

  /** Begins on the loops; no lane is opened before an address is known. */
  void start(List<Router> routers, Lanes.Opener opener) {
    for (LaneLoop loop : lanes.loops()) {
      Router router = routers.get(loop.number());
      loop.start(router, new ForwardRelay(loop, router, router::chargeStall));
    }
    lanes.open(opener);
  }

  Lanes lanes() {
    return lanes;
  }

  PeerServices services() {
    return services;
  }

  /** Tells the other buses which services have members here. */
  public ServedHere servedHere() {
    return (service, served) -> interest.serves(service.account(), service.name(), served);
  }

  /** Returns which other buses serve what. */
  public Map<ServiceKey, Set<BusId>> servedElsewhere() {
    return services.byKey();
  }

  InterestExchange exchange() {
    return exchange;
  }

  OneShotLatch startGate() {
    return startGate;
  }

  @Override
  public boolean relieve() {
    return lanes.giveUpFullest();
  }

  /** Under a lock of the index, by any thread. */
  private void interestChanged() {
    lanes.loop(0).execute(exchange::tellSoon);
  }

  @Override
  public boolean isAlone() {
    // Before the registry has been heard that is not known.
    return startGate.isOpen() && lanes.peers().isEmpty();
  }

  @Override
  public boolean leavesOn(int loop, long producer) {
    return lanes.loop(loop).lane(producer) == loop;
  }

  @Override
  public @Nullable String refuse(
      String account, String filter, @Nullable String group, InterestShare share) {
    String problem = problem(share);
    return problem == null || interest.contains(account, filter, group) ? null : problem;
  }

  @Override
  public @Nullable String refuseService(String account, String service, InterestShare share) {
    String problem = problem(share);
    return problem == null || interest.serves(account, service) ? null : problem;
  }

  private @Nullable String problem(InterestShare share) {
    return limits.problem(interest.size(), share.filters(), share.isAddressFull());
  }

  @Override
  public void afterInterestApplied(int loop, Consumer<Boolean> done) {
    long version = interest.version();
    onFirst(loop, done, told -> exchange.afterInterestApplied(version, told));
  }

  @Override
  public void afterInboundDelivered(int loop, Consumer<Boolean> done) {
    onFirst(loop, done, exchange::afterInboundDelivered);
  }

  /** Asks on the first loop, and brings the answer back. */
  private void onFirst(int loop, Consumer<Boolean> done, Consumer<Consumer<Boolean>> question) {
    if (isAlone()) {
      done.accept(true);
      return;
    }
    LaneLoop asking = lanes.loop(loop);
    Consumer<Boolean> answer =
        kept -> {
          if (!kept) {
            late.increment();
          }
          asking.execute(() -> done.accept(kept));
        };
    lanes.loop(0).execute(() -> question.accept(answer));
  }

  @Override
  public void afterPublishedDelivered(int loop, long producer, Consumer<Boolean> done) {
    if (isAlone()) {
      done.accept(true);
      return;
    }
    if (!lanes.isOpen()) {
      // Clients may be faster than the start of the lanes.
      done.accept(false);
      return;
    }
    LaneLoop here = lanes.loop(loop);
    CountdownPromise promise = new CountdownPromise(3, done);
    here.whenHandedOver(promise::part);
    lanes.acknowledgement().of(here, here.lane(producer), null, () -> here.execute(promise::part));
    afterInterestApplied(
        loop,
        known -> {
          if (known) {
            promise.part();
          } else {
            promise.fail();
          }
        });
    promise.until(
        here.schedule(
            () -> {
              if (promise.fail()) {
                late.increment();
              }
            },
            lanes.config().syncTimeout().toMillis()));
  }

  /**
   * Ends all lanes: first what was published here has to arrive. Then the others are told, so that
   * they neither wait for this bus nor keep anything for it. Blocks.
   *
   * @param deadline {@link System#nanoTime} by which it ends in any case
   */
  public void close(long deadline) {
    ListenerRegistration listening = registration;
    if (listening == null) {
      return;
    }
    CountDownLatch arrived = new CountDownLatch(1);
    lanes.acknowledgement().ofAll(null, arrived::countDown);
    await(arrived, deadline, "what was forwarded is not acknowledged by all buses");
    listening.close();
    CountDownLatch ended = new CountDownLatch(lanes.loops().size());
    for (LaneLoop loop : lanes.loops()) {
      loop.execute(() -> loop.end(ended::countDown));
    }
    await(ended, System.nanoTime() + GOODBYE_NANOS, "not all others have heard of it");
  }

  private static void await(CountDownLatch latch, long deadline, String otherwise) {
    try {
      if (!latch.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        LOG.warn("The bus ends, but {}", otherwise);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns the figures of the federation. */
  public FederationFigures figures() {
    return FederationFigures.of(
        lanes, interest, late.sum(), exchange.mismatches(), services.figures());
  }
}
