package io.eventbus.server.federation.lane;

import io.eventbus.base.Backoff;
import io.eventbus.base.RefusedMemory;
import io.eventbus.link.LinkPeer;
import io.eventbus.server.config.FederationConfig;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.routing.Router;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * State of the lanes of one event loop. Confined to it except for {@link #execute} and immutable
 * state.
 */
public final class LaneLoop {
  private static final Logger LOG = LoggerFactory.getLogger(LaneLoop.class);

  private static final Duration MIN_PAUSE = Duration.ofMillis(50);
  private static final Duration MAX_PAUSE = Duration.ofSeconds(2);

  /** Time that an acknowledgement waits for more to acknowledge. */
  private static final long ACK_MILLIS = 5;

  private final int number;
  private final EventLoop eventLoop;
  private final Lanes lanes;
  private final LaneCounters counters = new LaneCounters();
  private final LaneDeadlines deadlines = new LaneDeadlines(this);
  private final InterestTurns interestTurns = new InterestTurns();
  private final LaneMemory.Share laneShare;
  private final Set<LaneReceiver> receivers = new LinkedHashSet<>();
  private final Runnable drain = this::drain;
  private List<Lane> dirty = new ArrayList<>();
  private List<Lane> draining = new ArrayList<>();
  private boolean drainScheduled;
  private boolean ending;
  private ByteBuffer scratch = ByteBuffer.allocate(256);
  private @Nullable Router router;
  private @Nullable ForwardHandler forwards;
  private @Nullable AttachedStreams others;

  LaneLoop(int number, EventLoop eventLoop, Lanes lanes) {
    this.number = number;
    this.eventLoop = eventLoop;
    this.lanes = lanes;
    this.laneShare = lanes.laneMemory().share();
  }

  /** Completes the circular dependency with the router, before any lane. */
  public void start(Router newRouter, ForwardHandler handler) {
    router = newRouter;
    forwards = handler;
    execute(deadlines::start);
  }

  /** Attaches streams of another kind, to be checked together with the lanes; once, on the loop. */
  public void with(AttachedStreams streams) {
    others = streams;
  }

  @Nullable AttachedStreams others() {
    return others;
  }

  public int number() {
    return number;
  }

  public EventLoop eventLoop() {
    return eventLoop;
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

  public RandomGenerator random() {
    return lanes.random();
  }

  /** Returns the pauses between attempts to connect a lane, or another stream, to a peer. */
  public static Backoff reconnectBackoff() {
    return new Backoff(MIN_PAUSE, MAX_PAUSE, 0.5);
  }

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

  DeadlineScheduler otherDeadlines() {
    return lanes.deadlines();
  }

  /** Returns the current connections of lanes that peers have opened. */
  List<LaneReceiver> receivers() {
    return List.copyOf(receivers);
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

  /** Runs a task on the loop; any thread. Discarded after the end of the bus. */
  public void execute(Runnable task) {
    try {
      eventLoop.execute(task);
    } catch (RejectedExecutionException e) {
      LOG.trace("the loop has ended", e);
    }
  }

  public void later(Runnable task) {
    var unused = schedule(task, ACK_MILLIS);
  }

  public Future<?> schedule(Runnable task, long millis) {
    return eventLoop.schedule(task, millis, TimeUnit.MILLISECONDS);
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

  void open(
      InetSocketAddress address,
      Function<LinkPeer, ChannelHandler> handler,
      Consumer<Throwable> failed) {
    open(Lanes.KIND, address, handler, failed);
  }

  /** Opens a connection of a kind, which this loop is to own. */
  // The error handler gets the outcome of the link's future.
  @SuppressWarnings("FutureReturnValueIgnored")
  public void open(
      String kind,
      InetSocketAddress address,
      Function<LinkPeer, ChannelHandler> handler,
      Consumer<Throwable> failed) {
    CompletableFuture<LinkPeer> opening;
    try {
      opening = lanes.opener().open(address, kind + "." + number, eventLoop, handler);
    } catch (RuntimeException | Error e) {
      opening = CompletableFuture.failedFuture(e);
    }
    opening.whenComplete(
        (linkPeer, error) -> {
          if (error != null) {
            execute(() -> failed.accept(error));
          }
        });
  }

  void drainSoon(Lane lane) {
    dirty.add(lane);
    if (!drainScheduled) {
      execute(drain);
      drainScheduled = true;
    }
  }

  private void drain() {
    drainScheduled = false;
    List<Lane> round = dirty;
    dirty = draining;
    draining = round;
    try {
      for (int i = 0; i < round.size(); i++) {
        write(round.get(i));
      }
    } finally {
      round.clear();
    }
  }

  private static void write(Lane lane) {
    try {
      lane.drain();
    } catch (RuntimeException | Error e) {
      failed("lane " + lane.number() + " to " + lane.peer() + " could not be written", e);
      lane.fail();
    }
  }

  /** Logs the failure of one lane; all others go on. */
  static void failed(String context, Throwable e) {
    if (RefusedMemory.isRefused(e)) {
      // Many lanes may fail for the same reason, again and again.
      LOG.warn("{}; its connection ends: {}", context, e.toString());
    } else {
      LOG.error("{}; its connection ends", context, e);
    }
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

  /** Adds a connection; returns false if the bus ends. */
  boolean add(LaneReceiver receiver) {
    if (ending || !receivers.add(receiver)) {
      return false;
    }
    // Its first keepalive may be due before the next tick.
    checkSoon();
    return true;
  }

  void remove(LaneReceiver receiver) {
    receivers.remove(receiver);
  }

  /** Schedules a check for a deadline that may come before the next tick. */
  public void checkSoon() {
    deadlines.checkSoon();
  }

  /** Closes everything; on this loop. */
  public void end(Runnable ended) {
    ending = true;
    deadlines.end();
    List<ChannelFuture> open = new ArrayList<>();
    for (Peer peer : peers().all()) {
      ChannelFuture closed = peer.lane(number).end();
      if (closed != null) {
        open.add(closed);
      }
    }
    receivers().forEach(receiver -> open.add(receiver.end()));
    AttachedStreams streams = others;
    if (streams != null) {
      open.addAll(streams.end());
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
