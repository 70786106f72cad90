package io.eventbus.server.federation;

import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkPeer;
import io.eventbus.link.LinkTransport;
import io.eventbus.link.StreamAcceptor;
import io.eventbus.registry.BusId;
import io.eventbus.registry.ListenerRegistration;
import io.eventbus.registry.Registry;
import io.eventbus.server.config.FederationConfig;
import io.eventbus.server.config.ListenConfig;
import io.eventbus.server.routing.BusMemory;
import io.eventbus.server.routing.RemoteForwarder;
import io.eventbus.server.routing.Router;
import io.eventbus.server.routing.SubscriptionIndex;
import io.eventbus.server.session.ClusterPromises;
import io.eventbus.server.transport.EventLoops;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoop;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One bus's end of all that goes between buses. It is made before the routers, which it forwards
 * for, and started when they and the links are there. Any thread.
 */
public final class Federation implements ClusterPromises {
  /** The kind of stream, see {@link LinkNode#acceptStreams}. */
  static final String LANES = "lane";

  private static final Logger LOG = LoggerFactory.getLogger(Federation.class);

  /** How long the others may take to hear that this bus ends. */
  private static final long GOODBYE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Opens the connections of lanes, as {@link LinkNode#openStream} does. */
  @FunctionalInterface
  interface Streams {
    CompletableFuture<LinkPeer> open(
        InetSocketAddress address,
        String channel,
        EventLoop loop,
        Function<LinkPeer, ChannelHandler> handler);
  }

  private final FederationConfig config;
  private final TimeAndChance timeAndChance;
  private final int maxFrameBytes;
  private final SubscriptionIndex index;
  private final BusMemory memory;
  private final LaneMemory laneMemory;
  private final List<LoopFederation> loops = new ArrayList<>();
  private final Peers peers;
  private final LocalInterest interest;
  private final InterestExchange exchange;
  private final Members members;
  private final Acknowledgement acknowledgement;
  private final Fence startFence = new Fence();
  private final LongAdder late = new LongAdder();
  private final LongAdder mismatches = new LongAdder();
  private volatile @Nullable Streams streams;
  private @Nullable ListenerRegistration registration;

  /**
   * Prepares the lanes of a bus; it opens none yet.
   *
   * @param config bounds and times
   * @param self this bus
   * @param maxFrameBytes the largest frame that another bus may send
   * @param eventLoops the loops that own clients and are to own lanes
   * @param index the subscriptions of clients, to which those of other buses come
   * @param memory counts what is held
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
        TimeAndChance.REAL);
  }

  Federation(
      FederationConfig config,
      BusId self,
      int maxFrameBytes,
      List<EventLoop> eventLoops,
      SubscriptionIndex index,
      BusMemory memory,
      TimeAndChance timeAndChance) {
    this.config = config;
    this.timeAndChance = timeAndChance;
    this.maxFrameBytes = maxFrameBytes;
    this.index = index;
    this.memory = memory;
    this.laneMemory = new LaneMemory(memory.limit() / 100 * config.memoryPercent());
    for (int i = 0; i < eventLoops.size(); i++) {
      loops.add(new LoopFederation(i, eventLoops.get(i), this));
    }
    peers = new Peers(self, this);
    acknowledgement = new Acknowledgement(loops, peers);
    interest = new LocalInterest(this::interestChanged);
    exchange = new InterestExchange(this, interest);
    members = new Members(this, exchange);
    index.onLocalChange(interest);
  }

  /**
   * Says what drives the sockets of links, so that lanes can be given to the loops of clients.
   *
   * @param listen how the bus listens for clients
   * @return the transport for the links
   */
  public static LinkTransport transport(ListenConfig listen) {
    return EventLoops.usesEpoll(listen.transport())
        ? new LinkTransport(
            EpollIoHandler.newFactory(), EpollServerSocketChannel.class, EpollSocketChannel.class)
        : LinkTransport.nio();
  }

  /**
   * Returns where the router of a loop forwards to.
   *
   * @param loop its number
   * @return confined to that loop
   */
  public RemoteForwarder forwarder(int loop) {
    return loops.get(loop);
  }

  /**
   * Begins to open lanes and to take them.
   *
   * @param routers the router of each loop
   * @param linkNode the links, which listen
   * @param registry says which buses there are
   */
  public void start(List<Router> routers, LinkNode linkNode, Registry registry) {
    start(routers, linkNode::openStream);
    linkNode.acceptStreams(
        LANES,
        new StreamAcceptor() {
          @Override
          public EventLoop loop(LinkPeer peer) {
            return loopFor(peer).eventLoop();
          }

          @Override
          public ChannelHandler handler(LinkPeer peer) {
            return receiver(peer);
          }
        });
    follow(registry);
  }

  /** What handles the bytes of a lane that another bus has opened; on the loop that owns it. */
  ChannelHandler receiver(LinkPeer peer) {
    return new LaneReceiver(loopFor(peer), peer);
  }

  /** From now on the registry says which buses there are. */
  void follow(Registry registry) {
    registration = registry.addListener((snapshot, changes) -> members.onSnapshot(snapshot));
    // A bus that does not find the others serves all the same.
    var unused = loops.get(0).schedule(startFence::open, config.confirm().toMillis());
  }

  /** Begins on the loops; no lane is opened before an address is known. */
  void start(List<Router> routers, Streams opener) {
    for (int i = 0; i < loops.size(); i++) {
      loops.get(i).start(routers.get(i));
    }
    streams = opener;
  }

  private LoopFederation loopFor(LinkPeer peer) {
    return loops.get(Math.floorMod(LoopFederation.laneOf(peer), loops.size()));
  }

  int loopCount() {
    return loops.size();
  }

  LoopFederation loop(int number) {
    return loops.get(number);
  }

  List<LoopFederation> loops() {
    return loops;
  }

  FederationConfig config() {
    return config;
  }

  int maxFrameBytes() {
    return maxFrameBytes;
  }

  SubscriptionIndex index() {
    return index;
  }

  BusMemory memory() {
    return memory;
  }

  long nanoTime() {
    return timeAndChance.nanoTime().getAsLong();
  }

  RandomGenerator random() {
    return timeAndChance.random().get();
  }

  ByteBufAllocator allocator() {
    return PooledByteBufAllocator.DEFAULT;
  }

  Peers peers() {
    return peers;
  }

  InterestExchange exchange() {
    return exchange;
  }

  Acknowledgement acknowledgement() {
    return acknowledgement;
  }

  Fence startFence() {
    return startFence;
  }

  Streams streams() {
    Streams opener = streams;
    if (opener == null) {
      throw new IllegalStateException("the federation has not been started");
    }
    return opener;
  }

  void countMismatch() {
    mismatches.increment();
  }

  LaneMemory laneMemory() {
    return laneMemory;
  }

  void onTick(long now) {
    members.onTick(now);
  }

  @Override
  public boolean relieve() {
    Peer fullest = null;
    long bytes = 0;
    for (Peer peer : peers.all()) {
      long queued = peer.queuedBytes();
      if (peer.upLanes() == 0 && queued > bytes) {
        fullest = peer;
        bytes = queued;
      }
    }
    if (fullest == null) {
      return false;
    }
    fullest.giveUp(
        bytes + " bytes wait for it, it cannot be reached, and the bus is out of memory");
    return true;
  }

  /** Under a lock of the index, by any thread. */
  private void interestChanged() {
    loops.get(0).execute(exchange::tellSoon);
  }

  @Override
  public boolean isAlone() {
    // Before the registry has been heard nobody knows.
    return startFence.isOpen() && peers.isEmpty();
  }

  @Override
  public boolean leavesOn(int loop, long producer) {
    return loops.get(loop).lane(producer) == loop;
  }

  @Override
  public @Nullable String refuse(String filter, @Nullable String group) {
    if (interest.size() < config.filters() || interest.contains(filter, group)) {
      return null;
    }
    return "the clients of this bus subscribe to as many different filters as it can tell the"
        + " others of (expected: at most "
        + config.filters()
        + ", federation.filters); use wider filters, or another bus";
  }

  @Override
  public void whenKnown(int loop, Consumer<Boolean> done) {
    long version = interest.version();
    onFirst(loop, done, told -> exchange.whenKnown(version, told));
  }

  @Override
  public void whenArrived(int loop, Consumer<Boolean> done) {
    onFirst(loop, done, exchange::whenArrived);
  }

  /** Asks on the first loop, and brings the answer back. */
  private void onFirst(int loop, Consumer<Boolean> done, Consumer<Consumer<Boolean>> question) {
    if (isAlone()) {
      done.accept(true);
      return;
    }
    LoopFederation asking = loops.get(loop);
    Consumer<Boolean> answer =
        kept -> {
          if (!kept) {
            late.increment();
          }
          asking.execute(() -> done.accept(kept));
        };
    loops.get(0).execute(() -> question.accept(answer));
  }

  @Override
  public void whenReached(int loop, long producer, Consumer<Boolean> done) {
    if (isAlone()) {
      done.accept(true);
      return;
    }
    if (streams == null) {
      // Clients may be faster than the start of the lanes.
      done.accept(false);
      return;
    }
    LoopFederation here = loops.get(loop);
    Promise promise = new Promise(3, done);
    here.whenHandedOver(promise::part);
    acknowledgement.of(here, here.lane(producer), null, () -> here.execute(promise::part));
    whenKnown(
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
            config.confirm().toMillis()));
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
    acknowledgement.ofAll(null, arrived::countDown);
    await(arrived, deadline, "what was forwarded is not acknowledged by all buses");
    listening.close();
    CountDownLatch ended = new CountDownLatch(loops.size());
    for (LoopFederation loop : loops) {
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

  /**
   * Returns the figures of the federation.
   *
   * @return at this moment, or a moment ago
   */
  public FederationFigures figures() {
    return FederationFigures.of(loops, peers, interest, late.sum(), mismatches.sum());
  }
}
