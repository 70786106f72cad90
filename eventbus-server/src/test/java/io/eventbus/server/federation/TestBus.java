package io.eventbus.server.federation;

import io.eventbus.link.LinkPeer;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.registry.BusId;
import io.eventbus.schema.Overflow;
import io.eventbus.server.config.FederationConfig;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.Loops;
import io.eventbus.server.delivery.Subscriber;
import io.eventbus.server.federation.interest.InterestExchange;
import io.eventbus.server.federation.lane.ClockAndRandom;
import io.eventbus.server.federation.lane.Lane;
import io.eventbus.server.federation.lane.LaneLoop;
import io.eventbus.server.federation.lane.LanePath;
import io.eventbus.server.federation.lane.OneShotLatch;
import io.eventbus.server.federation.lane.Peer;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.routing.RemoteForwarder;
import io.eventbus.server.routing.Router;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.stats.LoopStats;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.subscription.SubscriptionIndex;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Federation of one bus, whose loops run under control of the test. Confined to one thread. */
public final class TestBus {
  public static final String SELF = "self";

  private final List<EmbeddedChannel> clocks = new ArrayList<>();
  private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
  public final BusMemory memory;
  private final Deque<Opening> openings = new ArrayDeque<>();
  private long nextSubscription = 1;
  private long nanos;
  private boolean refusing;
  private long workNanos;

  public final SubscriptionIndex index;
  public final Federation federation;
  public final List<Router> routers = new ArrayList<>();
  public final Loops loops;

  /** Connection that the bus wants to open. */
  public record Opening(
      String channel,
      Function<LinkPeer, ChannelHandler> handler,
      CompletableFuture<LinkPeer> outcome) {
    /** Opens the connection to a peer. */
    public EmbeddedChannel answer(String bus, long instance) {
      return new EmbeddedChannel(handler.apply(new LinkPeer("", "", bus, instance, channel)));
    }

    /** Fails the connection. */
    public void fail(Throwable error) {
      outcome.completeExceptionally(error);
    }
  }

  public TestBus() {
    this(1, fanout(8));
  }

  public TestBus(int loops, FederationConfig config) {
    this(loops, config, 1 << 30);
  }

  public TestBus(int loops, FederationConfig config, long memoryBytes) {
    this(loops, config, memoryBytes, new SubscriptionIndex(loops));
  }

  public TestBus(int loops, FederationConfig config, long memoryBytes, SubscriptionIndex index) {
    this.index = index;
    memory = new BusMemory(memoryBytes);
    for (int i = 0; i < loops; i++) {
      EmbeddedChannel clock = new EmbeddedChannel();
      clock.freezeTime();
      clocks.add(clock);
    }
    List<EventLoop> eventLoops = clocks.stream().map(EmbeddedChannel::eventLoop).toList();
    federation =
        new Federation(
            config,
            new BusId(SELF),
            1 << 20,
            eventLoops,
            index,
            memory,
            new ClockAndRandom(() -> nanos += workNanos, ClockAndRandom.REAL.random()));
    this.loops =
        new Loops() {
          @Override
          public int count() {
            return eventLoops.size();
          }

          @Override
          public Executor executor(int loop) {
            return eventLoops.get(loop);
          }

          @Override
          public void handOver(int loop) {
            routers.get(loop).flush();
          }
        };
    for (int i = 0; i < loops; i++) {
      routers.add(
          new Router(
              i,
              this.loops,
              index,
              allocator,
              memory,
              new LoopStats(),
              federation.forwarder(i),
              () -> {}));
    }
    federation.start(
        routers,
        (address, channel, loop, handler) -> {
          if (refusing) {
            throw new OutOfMemoryError("Cannot reserve 1 bytes of direct buffer memory");
          }
          CompletableFuture<LinkPeer> outcome = new CompletableFuture<>();
          openings.add(new Opening(channel, handler, outcome));
          return outcome;
        });
  }

  /** Returns the default configuration with a given fanout and the minimum memory for lanes. */
  public static FederationConfig fanout(int fanout) {
    FederationConfig defaults = ServerConfig.defaults().federation();
    return new FederationConfig(
        fanout,
        64 * 1024,
        defaults.memoryPercent(),
        defaults.filters(),
        defaults.syncTimeout(),
        defaults.peerTimeout(),
        defaults.heartbeat(),
        defaults.keepaliveTimeout());
  }

  /** Returns a peer that the registry knows by a number. */
  public Peer peer(String id, int number) {
    Peer peer = federation.lanes().peers().of(new BusId(id));
    if (peer == null) {
      throw new AssertionError(id);
    }
    peer.address(InetSocketAddress.createUnresolved("127.0.0.1", 9));
    if (number > 0) {
      federation.lanes().peers().number(peer, number);
    }
    return peer;
  }

  /** Returns the connection that a lane has started to open. */
  public Opening opening() {
    return openings.remove();
  }

  public boolean isOpening() {
    return !openings.isEmpty();
  }

  /** Sets whether there is no memory to open connections. */
  public void refuseOpening(boolean now) {
    refusing = now;
  }

  /** Returns the handler of a lane that a peer has opened. */
  public ChannelHandler receiver(LinkPeer from) {
    return federation.lanes().receiver(from);
  }

  public InterestExchange exchange() {
    return federation.exchange();
  }

  public OneShotLatch startLatch() {
    return federation.startLatch();
  }

  public FederationConfig config() {
    return federation.lanes().config();
  }

  /** Returns the forwarder of a loop, for its router. */
  public RemoteForwarder forwarder(int loop) {
    return federation.forwarder(loop);
  }

  public LaneLoop loop(int number) {
    return federation.lanes().loop(number);
  }

  /** Sets the time that passes with each reading of the clock. */
  public void work(long eachNanos) {
    workNanos = eachNanos;
  }

  /** Advances the clock by a few milliseconds, but not the deadlines. */
  public void later() {
    advance(TimeUnit.MILLISECONDS.toNanos(10));
  }

  private void advance(long by) {
    nanos += by;
    clocks.forEach(clock -> clock.advanceTimeBy(by, TimeUnit.NANOSECONDS));
    run();
  }

  /** Advances the clock and the deadlines. */
  public int pass(Duration time) {
    int wakes = 0;
    long left = time.toNanos();
    run();
    while (true) {
      long next =
          clocks.stream()
              .mapToLong(EmbeddedChannel::runScheduledPendingTasks)
              .filter(nextDue -> nextDue >= 0)
              .min()
              .orElse(Long.MAX_VALUE);
      if (next > left) {
        advance(left);
        return wakes;
      }
      advance(next);
      left -= next;
      wakes++;
    }
  }

  /** Releases the memory of the lanes. */
  public void close() {
    federation.lanes().loops().forEach(loop -> loop.end(() -> {}));
    run();
  }

  /** Runs the tasks of the loops, and the resulting ones. */
  public void run() {
    for (int i = 0; i < 4; i++) {
      clocks.forEach(EmbeddedChannel::runPendingTasks);
    }
  }

  public RoutedSubscription subscribe(Subscriber linkPeer, String filter) {
    RoutedSubscription s =
        new RoutedSubscription(
            linkPeer, nextSubscription++, TopicFilter.parse(filter), null, Overflow.BLOCK);
    index.add(s);
    return s;
  }

  /** Returns events with a letter of the text each. */
  public Delivery delivery(String topic, long producer, long sequence, String payload) {
    return SampleFrames.delivery(
        allocator,
        memory,
        topic,
        producer,
        sequence,
        1,
        payload.chars().mapToObj(c -> new SampleFrames.Event(null, "" + (char) c)).toList());
  }

  /** Offers a lane an event for the subscribers of its bus. */
  public void offer(Lane lane, long sequence) {
    offer(lane, sequence, List.of());
  }

  /** Offers a lane an event to be passed on to further buses. */
  public void offer(Lane lane, long sequence, List<Peer> behind) {
    Delivery delivery = delivery("t", 1, sequence, "x");
    LanePath.of(lane, "", 1, true, List.of(), behind, List.of(), Overflow.BLOCK, null)
        .offer(delivery, Overflow.BLOCK);
    delivery.release();
  }

  /** Returns a whole Forward frame as a peer sends it. */
  public byte[] forward(String topic, long sequence, String payload, int... targets) {
    Delivery delivery = delivery(topic, 1, sequence, payload);
    byte[] frame = LaneFrames.forward(delivery, targets);
    delivery.release();
    return frame;
  }
}
