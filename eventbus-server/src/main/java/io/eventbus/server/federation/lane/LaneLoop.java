package io.eventbus.server.federation.lane;

import io.eventbus.link.LinkPeer;
import io.eventbus.link.stream.StreamLoop;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.server.config.FederationConfig;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.routing.Router;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * State of the lanes of one event loop. Confined to it except for {@link #execute} and immutable
 * state.
 */
public final class LaneLoop extends StreamLoop {
  private static final Logger LOG = LoggerFactory.getLogger(LaneLoop.class);

  private final int number;
  private final Lanes lanes;
  private final LaneCounters counters = new LaneCounters();
  private final LaneDeadlines deadlines = new LaneDeadlines(this);
  private final InterestTurns interestTurns = new InterestTurns();
  private final LaneMemory.Share laneShare;
  private ByteBuffer scratch = ByteBuffer.allocate(256);
  private @Nullable Router router;
  private @Nullable ForwardHandler forwards;
  private final List<DeadlineScheduler> otherDeadlines = new ArrayList<>();
  private @Nullable AttachedStreams others;

  LaneLoop(int number, EventLoop eventLoop, Lanes lanes) {
    super(eventLoop, lanes.config().heartbeat(), lanes.config().keepaliveTimeout());
    this.number = number;
    this.lanes = lanes;
    this.laneShare = lanes.laneMemory().share();
  }

  /** Completes the circular dependency with the router, before any lane. */
  public void start(Router newRouter, ForwardHandler handler) {
    router = newRouter;
    forwards = handler;
    if (number == 0) {
      otherDeadlines.add(lanes.deadlines());
    }
    execute(deadlines::start);
  }

  /** Attaches streams of another kind, to be checked together with the lanes; once, on the loop. */
  public void with(AttachedStreams streams) {
    others = streams;
    otherDeadlines.add(streams);
  }

  public int number() {
    return number;
  }

  public int count() {
    return lanes.loops().size();
  }

  public FederationConfig config() {
    return lanes.config();
  }

  public int maxFrameBytes() {
    return lanes.maxFrameBytes();
  }

  public BusMemory memory() {
    return lanes.memory();
  }

  LaneMemory laneMemory() {
    return lanes.laneMemory();
  }

  InterestTurns interestTurns() {
    return interestTurns;
  }

  LaneMemory.Share laneShare() {
    return laneShare;
  }

  /** Returns the bytes that each lane may keep while memory for lanes is scarce. */
  long lanePart() {
    return laneMemory().part(peers().all().size() * count());
  }

  public ByteBufAllocator allocator() {
    return lanes.allocator();
  }

  @Override
  public RandomGenerator random() {
    return lanes.random();
  }

  @Override
  public long nanoTime() {
    return lanes.nanoTime();
  }

  public LaneCounters counters() {
    return counters;
  }

  ForwardHandler forwards() {
    ForwardHandler handler = forwards;
    if (handler == null) {
      throw new IllegalStateException("loop " + number + " has not been started");
    }
    return handler;
  }

  /** Returns the deadlines that are checked together with those of the lanes. */
  List<DeadlineScheduler> otherDeadlines() {
    return otherDeadlines;
  }

  public Peers peers() {
    return lanes.peers();
  }

  int registryNumber() {
    return lanes.peers().ownNumber();
  }

  Router router() {
    Router r = router;
    if (r == null) {
      throw new IllegalStateException("loop " + number + " has not been started");
    }
    return r;
  }

  /** Returns a buffer for the head of a frame. */
  ByteBuffer scratch(int headBytes) {
    if (scratch.capacity() < headBytes) {
      scratch = ByteBuffer.allocate(2 * headBytes);
    }
    return scratch.clear();
  }

  @Override
  protected boolean isMalformed(Throwable error) {
    return error instanceof MalformedFrameException;
  }

  @Override
  protected CompletableFuture<LinkPeer> open(
      InetSocketAddress address,
      String channel,
      EventLoop owner,
      Function<LinkPeer, ChannelHandler> handler) {
    return lanes.opener().open(address, channel, owner, handler);
  }

  public static long mix(long producer) {
    long h = producer * 0x9E3779B97F4A7C15L;
    return h ^ (h >>> 32);
  }

  /** Returns the lane for a producer's frames. */
  public int lane(long producer) {
    return (int) ((mix(producer) >>> 1) % lanes.loops().size());
  }

  /**
   * Returns the number of a lane from the name of its channel.
   *
   * @throws IllegalArgumentException if a peer has given it an invalid name
   */
  static int laneOf(LinkPeer linkPeer) {
    return numberOf(Lanes.KIND, linkPeer);
  }

  /**
   * Returns the number of a stream of a kind from the name of its channel.
   *
   * @throws IllegalArgumentException if a peer has given it an invalid name
   */
  public static int numberOf(String kind, LinkPeer linkPeer) {
    String channel = linkPeer.channel();
    String number = channel.substring(channel.indexOf('.') + 1);
    int lane = -1;
    try {
      lane = Integer.parseInt(number);
    } catch (NumberFormatException e) {
      LOG.trace("not a number", e);
    }
    if (lane < 0 || lane >= Peer.MAX_INCOMING) {
      throw new IllegalArgumentException(
          "channel of bus "
              + linkPeer.bus()
              + ": \""
              + channel
              + "\" (expected: "
              + kind
              + ".0 to "
              + kind
              + "."
              + (Peer.MAX_INCOMING - 1)
              + ")");
    }
    return lane;
  }

  /**
   * Returns a latch that opens when everything that this loop has sent to some peers until now has
   * arrived.
   */
  public OneShotLatch latchAfter(Collection<Peer> buses) {
    OneShotLatch latch = new OneShotLatch();
    lanes.acknowledgement().of(this, -1, buses, latch::open);
    return latch;
  }

  /**
   * Runs a task on this loop when other loops have run the work that this one had collected for
   * them.
   */
  public void whenHandedOver(Runnable done) {
    router().flush();
    if (count() == 1) {
      done.run();
      return;
    }
    AtomicInteger left = new AtomicInteger(count() - 1);
    for (int i = 0; i < count(); i++) {
      if (i != number) {
        lanes
            .loop(i)
            .execute(
                () -> {
                  if (left.decrementAndGet() == 0) {
                    execute(done);
                  }
                });
      }
    }
  }

  @Override
  public void checkSoon() {
    deadlines.checkSoon();
  }

  /** Closes everything; on this loop. */
  public void end(Runnable ended) {
    deadlines.end();
    peers().all().forEach(peer -> peer.lane(number).end());
    List<ChannelFuture> open = end();
    AttachedStreams attached = others;
    if (attached != null) {
      attached.end();
    }
    AtomicInteger left = new AtomicInteger(open.size() + 1);
    Runnable one =
        () -> {
          if (left.decrementAndGet() == 0) {
            ended.run();
          }
        };
    open.forEach(closed -> closed.addListener(now -> one.run()));
    one.run();
  }
}
