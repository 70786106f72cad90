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
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.routing.RemoteForwarder;
import io.eventbus.server.routing.Router;
import io.eventbus.server.session.ClusterGuarantees;
import io.eventbus.server.session.InterestShare;
import io.eventbus.server.subscription.SubscriptionIndex;
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
 * Federation of a bus with its peers: lanes, interest, trees and calls. It is created before the
 * routers, for which it forwards, and started when they and the links are there. Any thread.
 */
public final class Federation implements ClusterGuarantees {
  /** Kinds of streams that are accepted once a bus has started its federation. */
  public static final Set<String> STREAMS = Set.of(PeerServices.KIND, Lanes.KIND);

  private static final Logger LOG = LoggerFactory.getLogger(Federation.class);

  /** Time that peers may take to acknowledge the goodbye of this bus. */
  private static final long GOODBYE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Lanes lanes;
  private final LocalInterest interest;
  private final InterestLimits limits;
  private final PeerServices services;
  private final InterestExchange exchange;
  private final PeerTracker members;
  private final OneShotLatch startLatch = new OneShotLatch();
  private final LongAdder late = new LongAdder();
  private @Nullable ListenerRegistration registration;

  /**
   * Prepares the lanes of a bus without opening any.
   *
   * @param maxFrameBytes maximum bytes of a peer's frame
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
    // Paths through peers name them by their numbers.
    lanes =
        new Lanes(
            config, self, maxFrameBytes, eventLoops, memory, clock, index.accounts()::invalidate);
    interest = new LocalInterest(this::interestChanged);
    limits = new InterestLimits(config.filters());
    services = new PeerServices(lanes);
    exchange = new InterestExchange(lanes, index, interest, startLatch, services);
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
    public boolean areDueSoon() {
      return exchange.isWaitedFor();
    }
  }

  /**
   * Returns the transport for the sockets of links, so that lanes can be given to the loops of
   * clients.
   */
  public static LinkTransport transport(ListenConfig listen) {
    return EventLoops.usesEpoll(listen.transport())
        ? new LinkTransport(
            EpollIoHandler.newFactory(), EpollServerSocketChannel.class, EpollSocketChannel.class)
        : LinkTransport.nio();
  }

  /** Returns the forwarder of a loop, for its router. */
  public RemoteForwarder forwarder(int loop) {
    return new LoopForwarder(lanes.loop(loop), startLatch);
  }

  /** Starts to open and accept lanes. */
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

  /** Follows the registry, which says which buses there are. */
  void follow(Registry registry) {
    registration = registry.addListener((snapshot, changes) -> members.onSnapshot(snapshot));
    // A bus that does not find its peers serves all the same.
    var unused = lanes.loop(0).schedule(startLatch::open, lanes.config().syncTimeout().toMillis());
  }

  /** Starts the loops; no lane is opened before an address is known. */
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

  /** Returns the listener that announces local services to peers. */
  public ServedHere servedHere() {
    return (service, served) -> interest.serves(service.account(), service.name(), served);
  }

  /** Returns the peers that serve each service. */
  public Map<ServiceKey, Set<BusId>> servedByPeers() {
    return services.byKey();
  }

  InterestExchange exchange() {
    return exchange;
  }

  OneShotLatch startLatch() {
    return startLatch;
  }

  @Override
  public boolean dropLargestBacklog() {
    return lanes.giveUpLargestBacklog();
  }

  /** Called under a lock of the index, by any thread. */
  private void interestChanged() {
    lanes.loop(0).execute(exchange::announceSoon);
  }

  @Override
  public boolean isAlone() {
    // Unknown before the first snapshot of the registry.
    return startLatch.isOpen() && lanes.peers().isEmpty();
  }

  @Override
  public boolean isLaneLocal(int loop, long producer) {
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
  public void whenInterestPropagated(int loop, Consumer<Boolean> done) {
    long version = interest.version();
    onFirst(loop, done, told -> exchange.whenInterestPropagated(version, told));
  }

  @Override
  public void whenInboundDelivered(int loop, Consumer<Boolean> done) {
    onFirst(loop, done, exchange::whenInboundDelivered);
  }

  /** Asks on the first loop, and returns the answer to the caller's loop. */
  private void onFirst(int loop, Consumer<Boolean> done, Consumer<Consumer<Boolean>> query) {
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
    lanes.loop(0).execute(() -> query.accept(answer));
  }

  @Override
  public void whenPublishedDelivered(int loop, long producer, Consumer<Boolean> done) {
    if (isAlone()) {
      done.accept(true);
      return;
    }
    if (!lanes.isOpen()) {
      // Clients may arrive before the lanes have started.
      done.accept(false);
      return;
    }
    LaneLoop here = lanes.loop(loop);
    CountdownPromise promise = new CountdownPromise(3, done);
    here.whenHandedOver(promise::part);
    lanes.acknowledgement().of(here, here.lane(producer), null, () -> here.execute(promise::part));
    whenInterestPropagated(
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
   * Closes all lanes: first the events published here have to arrive. Then peers are notified, so
   * that they neither wait for this bus nor keep anything for it. Blocks.
   *
   * @param deadline deadline of {@link System#nanoTime}
   */
  public void close(long deadline) {
    ListenerRegistration listening = registration;
    if (listening == null) {
      return;
    }
    CountDownLatch arrived = new CountDownLatch(1);
    lanes.acknowledgement().ofAll(null, arrived::countDown);
    await(arrived, deadline, "not all buses have acknowledged the forwarded events");
    listening.close();
    CountDownLatch ended = new CountDownLatch(lanes.loops().size());
    for (LaneLoop loop : lanes.loops()) {
      loop.execute(() -> loop.end(ended::countDown));
    }
    await(ended, System.nanoTime() + GOODBYE_NANOS, "not all peers were notified");
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

  public FederationFigures figures() {
    return FederationFigures.of(
        lanes, interest, late.sum(), exchange.mismatches(), services.figures());
  }
}
